import { expect, test } from "@jest/globals";
import { turnsDuring } from "@tidemark/testkit";
import { createPauses, mapInTurns } from "./pauses.ts";

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

test("what a step throws ends the work", async () => {
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
