import { setImmediate, setTimeout } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { currentDeadlineMs, currentOrg, stopIfOver, underDeadline, whenOver } from "./deadline.ts";

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

  test("carries the organization that the work is for", async () => {
    const seen = await underDeadline(1000, async () => [currentOrg(), currentDeadlineMs()], { orgId: "a" });
    expect([seen, currentOrg()]).toEqual([["a", 1000], undefined]);
    const inner = async () => underDeadline(undefined, async () => currentOrg(), { orgId: "b" });
    expect(await underDeadline(1000, inner, { orgId: "a" })).toBeUndefined();
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

describe("work that continues in steps", () => {
  test("ends at the deadline, or when the caller left, and not before", async () => {
    const ended = { reason: "deadline_exceeded" };
    stopIfOver();
    await underDeadline(Date.now() + 1000, async () => stopIfOver());
    await expect(underDeadline(Date.now() - 1, async () => stopIfOver())).rejects.toMatchObject(ended);
    const left = new AbortController();
    const work = async (): Promise<void> => {
      stopIfOver();
      left.abort();
      stopIfOver();
    };
    await expect(underDeadline(Date.now() + 1000, work, { left: left.signal })).rejects.toMatchObject(ended);
  });

  test("is told when its caller has stopped waiting, unless it has ended", async () => {
    const told: string[] = [];
    const left = new AbortController();
    await underDeadline(
      Date.now() + 20,
      async () => {
        whenOver(() => told.push("late"));
        const forget = whenOver(() => told.push("forgotten"));
        forget();
        await setTimeout(40);
      },
      { left: left.signal },
    );
    expect(told).toEqual(["late"]);
    await underDeadline(
      Date.now() + 10_000,
      async () => {
        const forget = whenOver(() => told.push("left"));
        left.abort();
        forget();
      },
      { left: left.signal },
    );
    expect(told).toEqual(["late", "left"]);
    whenOver(() => told.push("never"))();
    expect(told).toHaveLength(2);
  });
});
