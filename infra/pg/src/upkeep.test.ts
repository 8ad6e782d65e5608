import { expect, jest, test } from "@jest/globals";
import { inBatches, startUpkeep } from "./upkeep.ts";

test("batches go on until one has fewer rows", async () => {
  const rows = [3, 3, 2, 3];
  const asked: number[] = [];
  const total = await inBatches(3, (rowsMax) => {
    asked.push(rowsMax);
    return Promise.resolve(rows.shift()!);
  });
  expect([total, asked]).toEqual([8, [3, 3, 3]]);
});

test("rounds follow each other, a failed one too, and the stop waits for the current one", async () => {
  const ends: ((error?: Error) => void)[] = [];
  const told: string[] = [];
  const upkeep = startUpkeep({
    round: () => new Promise<string>((resolve, reject) => ends.push((e) => (e ? reject(e) : resolve("round")))),
    everyMs: 3_600_000,
    onDone: (report) => told.push(report),
    onError: (error) => told.push((error as Error).message),
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  upkeep.begin();
  upkeep.begin();
  await turn();
  expect(ends).toHaveLength(1);
  ends[0]!(new Error("gone"));
  await turn();
  expect([ends.length, told]).toEqual([2, ["gone"]]);
  const stopped = upkeep.stop().then(() => told.push("stopped"));
  await turn();
  ends[1]!();
  await stopped;
  expect(told).toEqual(["gone", "round", "stopped"]);
});

test("a round begins with each interval until the stop", async () => {
  jest.useFakeTimers();
  try {
    let rounds = 0;
    const upkeep = startUpkeep({
      round: () => Promise.resolve((rounds += 1)),
      everyMs: 1000,
      onDone: () => {},
      onError: () => {},
    });
    await jest.advanceTimersByTimeAsync(2500);
    expect(rounds).toBe(2);
    await upkeep.stop();
    await jest.advanceTimersByTimeAsync(5000);
    expect(rounds).toBe(2);
  } finally {
    jest.useRealTimers();
  }
});
