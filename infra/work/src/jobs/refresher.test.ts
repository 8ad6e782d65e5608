import { afterEach, expect, test } from "@jest/globals";
import { createRefresher, type Refresher, type RefresherOptions } from "./refresher.ts";

const running: Refresher[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((refresher) => refresher.stop()));
});

/** A refresher whose passes end when the test says so; no pass starts by itself unless a time is given. */
function setUp(times: Partial<Pick<RefresherOptions, "pollMs" | "retryMs" | "coalesceMs">> = {}) {
  const clock = { ms: 0 };
  const passes: { succeed: () => void; fail: (error: Error) => void }[] = [];
  const told: string[] = [];
  const waiting: (() => void)[] = [];
  const refresher = createRefresher({
    pass: () =>
      new Promise<void>((resolve, reject) => {
        passes.push({ succeed: resolve, fail: reject });
        for (const tell of waiting.splice(0)) tell();
      }),
    pollMs: 1e6,
    retryMs: 1e6,
    coalesceMs: 1,
    ...times,
    nowMs: () => clock.ms,
    onFailed: (error) => told.push(`failed: ${(error as Error).message}`),
    onRecovered: () => told.push("recovered"),
  });
  running.push(refresher);
  const begun = async (count: number): Promise<void> => {
    while (passes.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { refresher, clock, passes, told, begun };
}

test("a success makes it loaded, as of its beginning", async () => {
  const { refresher, clock, passes } = setUp();
  clock.ms = 5;
  const done = refresher.refresh();
  expect([refresher.loaded(), refresher.currentAtMs()]).toEqual([false, undefined]);
  clock.ms = 9;
  passes[0]?.succeed();
  expect(await done).toBe(true);
  expect([refresher.loaded(), refresher.degraded(), refresher.currentAtMs()]).toEqual([true, false, 5]);
});

test("callers while a pass is at work share the one that begins after it", async () => {
  const { refresher, passes, begun } = setUp();
  const first = refresher.refresh();
  const second = refresher.refresh();
  const third = refresher.refresh();
  let over = false;
  void second.then(() => (over = true));
  passes[0]?.succeed();
  await first;
  await begun(2);
  expect(over).toBe(false);
  passes[1]?.succeed();
  expect(await Promise.all([second, third])).toEqual([true, true]);
  expect(passes).toHaveLength(2);
});

test("a failure is reported once, and so is a success after it; loaded data stays loaded", async () => {
  const { refresher, passes, told, clock } = setUp();
  const pass = async (end: (at: number) => void): Promise<boolean> => {
    const done = refresher.refresh();
    end(passes.length - 1);
    return done;
  };
  const fail = (at: number) => passes[at]?.fail(new Error("gone"));
  const succeed = (at: number) => passes[at]?.succeed();
  expect(await pass(fail)).toBe(false);
  expect([refresher.loaded(), refresher.degraded()]).toEqual([false, true]);
  expect(await pass(fail)).toBe(false);
  clock.ms = 3;
  expect(await pass(succeed)).toBe(true);
  clock.ms = 4;
  expect(await pass(fail)).toBe(false);
  expect([refresher.loaded(), refresher.degraded(), refresher.currentAtMs()]).toEqual([true, true, 3]);
  expect(told).toEqual(["failed: gone", "recovered", "failed: gone"]);
});

test("a waiting pass runs even if the one before it failed", async () => {
  const { refresher, passes, begun } = setUp();
  const first = refresher.refresh();
  const second = refresher.refresh();
  passes[0]?.fail(new Error("gone"));
  expect(await first).toBe(false);
  await begun(2);
  passes[1]?.succeed();
  expect(await second).toBe(true);
});

test("it polls after a success and tries again after a failure", async () => {
  const { refresher, passes, begun } = setUp({ pollMs: 1, retryMs: 1 });
  refresher.start();
  await begun(1);
  passes[0]?.succeed();
  await begun(2);
  passes[1]?.fail(new Error("gone"));
  await begun(3);
  passes[2]?.succeed();
  await begun(4);
  expect(refresher.loaded()).toBe(true);
  passes[3]?.succeed();
});

test("many calls of wake cause one pass", async () => {
  const { refresher, passes, begun } = setUp();
  for (let i = 0; i < 10; i += 1) refresher.wake();
  await begun(1);
  const next = refresher.refresh();
  passes[0]?.succeed();
  await begun(2);
  passes[1]?.succeed();
  await next;
  expect(passes).toHaveLength(2);
});

test("once stopped nothing begins any more, and the pass at work ends first", async () => {
  const { refresher, passes } = setUp({ pollMs: 1 });
  const first = refresher.refresh();
  const waiting = refresher.refresh();
  const stopped = refresher.stop();
  passes[0]?.succeed();
  await stopped;
  expect([await first, await waiting, await refresher.refresh()]).toEqual([true, false, false]);
  refresher.wake();
  expect(passes).toHaveLength(1);
});
