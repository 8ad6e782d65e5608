import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { underDeadline } from "../deadline/deadline.ts";
import { turnsDuring } from "@tidemark/testkit";
import { createPauses, finishInTurns, mapInTurns, nextTurn } from "./pauses.ts";

/** Keeps the event loop busy. */
function work(ms: number): void {
  for (const sinceMs = performance.now(); performance.now() - sinceMs < ms;);
}

test("others get a turn between the steps of long work, and none of short work", async () => {
  const short = await turnsDuring(() => mapInTurns([1, 2, 3, 4], (item, index) => item + index));
  expect(short).toEqual({ result: [1, 3, 5, 7], turns: 0 });
  const long = await turnsDuring(() =>
    mapInTurns([1, 2, 3, 4], (item) => {
      work(3);
      return -item;
    }),
  );
  expect(long.result).toEqual([-1, -2, -3, -4]);
  expect(long.turns).toBeGreaterThanOrEqual(3);
});

test("one of those that wait continues in each tick of the event loop, in turns", async () => {
  const steps: number[] = [];
  const step = async (worker: number): Promise<void> => {
    for (let i = 0; i < 4; i += 1) {
      await nextTurn();
      steps.push(worker);
    }
  };
  let areDone = false;
  const working = Promise.all([0, 1, 2].map(step)).then(() => (areDone = true));
  const inTick: number[] = [];
  for (let before = 0; !areDone; before = steps.length) {
    await setImmediate();
    inTick.push(steps.length - before);
  }
  await working;
  expect(Math.max(...inTick)).toBe(1);
  expect(steps).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
});

test("an error in a step ends the work", async () => {
  const seen: number[] = [];
  const failing = mapInTurns([1, 2, 3], (item) => {
    seen.push(item);
    if (item === 2) throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(seen).toEqual([1, 2]);
});

test("the time of a pause does not count", async () => {
  const pauseIfLong = createPauses();
  expect(pauseIfLong()).toBeUndefined();
  work(3);
  await pauseIfLong();
  expect(pauseIfLong()).toBeUndefined();
});

describe("work that no one waits for any more", () => {
  const over = { reason: "deadline_exceeded" };
  const items = Array.from({ length: 1000 }, (_, i) => i);

  function* steps(): Generator<void, void> {
    for (;;) {
      work(1);
      yield;
    }
  }

  test.each<[string, () => Promise<unknown>]>([
    ["in steps", () => finishInTurns(steps())],
    ["over items", () => mapInTurns(items, () => work(1))],
    [
      "with turns of its own",
      async () => {
        for (;;) await nextTurn();
      },
    ],
  ])("ends %s at its deadline, and when the caller leaves", async (_what, endless) => {
    await expect(underDeadline(Date.now() + 20, endless)).rejects.toMatchObject(over);
    const left = new AbortController();
    const working = underDeadline(Date.now() + 10_000, endless, { left: left.signal });
    setTimeout(() => left.abort(), 20);
    await expect(working).rejects.toMatchObject(over);
  });

  test("continues outside of a request", async () => {
    const outside = () => underDeadline(undefined, () => mapInTurns(items.slice(0, 20), () => work(1)));
    const left = AbortSignal.abort();
    expect(await underDeadline(Date.now() + 10_000, outside, { left })).toHaveLength(20);
  });
});
