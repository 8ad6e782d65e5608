import { setImmediate, setTimeout } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { currentDeadlineMs, underDeadline } from "./deadline.ts";

describe("a deadline", () => {
  test("is known to all that the work awaits, and to nothing else", async () => {
    expect(currentDeadlineMs()).toBeUndefined();
    const seen = await Promise.all(
      [1000, 2000].map((deadlineMs) =>
        underDeadline(deadlineMs, async () => {
          await setTimeout(5);
          const [first] = await Promise.all([setImmediate().then(currentDeadlineMs), setTimeout(5)]);
          return [first, currentDeadlineMs()];
        }),
      ),
    );
    expect(seen).toEqual([
      [1000, 1000],
      [2000, 2000],
    ]);
    expect(currentDeadlineMs()).toBeUndefined();
  });

  test("of inner work is its own, and the outer one holds again after it", async () => {
    await underDeadline(1000, async () => {
      expect(await underDeadline(500, async () => currentDeadlineMs())).toBe(500);
      expect(await underDeadline(undefined, async () => currentDeadlineMs())).toBeUndefined();
      expect(currentDeadlineMs()).toBe(1000);
    });
  });

  test.each([
    ["settled", async () => {}],
    ["failed", async () => Promise.reject(new Error("no"))],
  ])("ends with work that %s: what it left running has none", async (_, end) => {
    const later = Promise.withResolvers<number | undefined>();
    await underDeadline(1000, async () => {
      void setTimeout(20).then(() => later.resolve(currentDeadlineMs()));
      await end();
    }).catch(() => {});
    expect(await later.promise).toBeUndefined();
  });
});
