import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { startRounds, type Rounds } from "./rounds.ts";

beforeEach(() => void jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "queueMicrotask"] }));
const started: Rounds[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((rounds) => rounds.stop()));
  jest.useRealTimers();
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Rounds every second that end when the test says so. */
function start(isFirstNow?: boolean) {
  const ends: ((error?: Error) => void)[] = [];
  const log: string[] = [];
  const rounds = startRounds({
    everyMs: 1000,
    round: () => new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
    onError: (error) => log.push((error as Error).message),
    ...(isFirstNow === undefined ? {} : { isFirstNow }),
  });
  const first = { ...rounds, stop: () => (ends.forEach((end) => end()), rounds.stop()) };
  started.push(first);
  return { rounds, ends, log };
}

test("the first round begins immediately, or after the interval", () => {
  expect(start().ends).toHaveLength(1);
  const later = start(false);
  expect(later.ends).toHaveLength(0);
  jest.advanceTimersByTime(1000);
  expect(later.ends).toHaveLength(1);
});

test("no round begins while another one lasts, and the next one begins at its time", async () => {
  const { ends } = start();
  jest.advanceTimersByTime(3500);
  expect(ends).toHaveLength(1);
  ends[0]!();
  await settled();
  jest.advanceTimersByTime(499);
  expect(ends).toHaveLength(1);
  jest.advanceTimersByTime(1);
  expect(ends).toHaveLength(2);
});

test("a caller that asks for a round during one waits for the next one, with all others that ask", async () => {
  const { rounds, ends } = start();
  let done = 0;
  const asked = [rounds.begin(), rounds.begin()].map(async (round) => {
    await round;
    done += 1;
  });
  ends[0]!();
  await settled();
  expect([ends.length, done]).toEqual([2, 0]);
  ends[1]!();
  await Promise.all(asked);
  expect([ends.length, done]).toEqual([2, 2]);
});

test("a round that fails is reported, and the one that waits for it begins", async () => {
  const { rounds, ends, log } = start();
  const asked = rounds.begin();
  ends[0]!(new Error("gone"));
  await settled();
  expect([ends.length, log]).toEqual([2, ["gone"]]);
  ends[1]!();
  await asked;
});

test("a round that throws before it waits is reported as well", async () => {
  const log: unknown[] = [];
  const rounds = startRounds({
    everyMs: 1000,
    round: () => {
      throw new Error("soon");
    },
    onError: (error) => log.push((error as Error).message),
  });
  await settled();
  expect(log).toEqual(["soon"]);
  await rounds.stop();
});

describe("a stop", () => {
  test("waits for the round, which can see it, and nothing begins after it", async () => {
    let seen: (() => boolean) | undefined;
    let end: () => void = () => {};
    let count = 0;
    const rounds = startRounds({
      everyMs: 1000,
      round: (isStopped) => {
        seen = isStopped;
        count += 1;
        return new Promise((resolve) => (end = resolve));
      },
      onError: () => {},
    });
    const asked = rounds.begin();
    expect(seen?.()).toBe(false);
    let isOver = false;
    const stopped = rounds.stop().then(() => (isOver = true));
    await settled();
    expect([seen?.(), isOver]).toEqual([true, false]);
    end();
    await Promise.all([stopped, asked, rounds.begin()]);
    jest.advanceTimersByTime(5000);
    expect(count).toBe(1);
  });
});
