import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { CAP_MIN } from "./caps.rules.ts";
import { createQueues, SHARED_MS, WAITING_MAX } from "./queues.rules.ts";

const LANE = "reads ";
const ORGS = ["a", "b", "c"];

type Step = { readonly do: "enter" | "leave" | "withdraw" | "late" | "calm"; readonly org: string };

const steps = fc.array(
  fc.record({
    do: fc.constantFrom<Step["do"]>("enter", "enter", "enter", "leave", "leave", "withdraw", "late", "calm"),
    org: fc.constantFrom(...ORGS),
  }),
  { maxLength: 300 },
);

test("requests leave in their order, each once, and none is lost", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const queues = createQueues<number>();
      const held = new Map(ORGS.map((org) => [org, 0]));
      const waiting = new Map(ORGS.map((org): [string, number[]] => [org, []]));
      const orgOf = new Map<number, string>();
      const admit = (admitted: readonly number[]): void => {
        for (const waiter of admitted) {
          const org = orgOf.get(waiter)!;
          expect(waiting.get(org)!.shift()).toBe(waiter);
          held.set(org, held.get(org)! + 1);
        }
      };
      let [next, nowMs] = [0, 0];
      for (const { do: what, org } of all) {
        nowMs += 1;
        if (what === "enter") {
          next += 1;
          orgOf.set(next, org);
          const entered = queues.enter(org, LANE, next, nowMs);
          if (entered === "in") held.set(org, held.get(org)! + 1);
          else waiting.get(org)!.push(next);
          // A party that has few requests is never kept waiting.
          if (held.get(org)! < CAP_MIN) expect(waiting.get(org)).toEqual([]);
        } else if (what === "leave" && held.get(org)! > 0) {
          held.set(org, held.get(org)! - 1);
          admit(queues.leave(org, LANE));
        } else if (what === "withdraw") {
          const last = waiting.get(org)!.pop();
          expect(queues.withdraw(org, LANE, last ?? -1)).toBe(last !== undefined);
        } else if (what === "late" || what === "calm") admit(queues.judge(what === "late" ? 100 : 0, nowMs));
        expect(queues.waiting()).toBe([...waiting.values()].flat().length);
      }
      // All requests end, each was served, and no party is remembered once the others have been gone for a while.
      for (const org of ORGS) {
        while (held.get(org)! > 0) {
          held.set(org, held.get(org)! - 1);
          admit(queues.leave(org, LANE));
        }
      }
      expect([...waiting.values()].flat()).toEqual([]);
      admit(queues.judge(100, nowMs + SHARED_MS));
      expect(queues.parties()).toBe(0);
    }),
  );
});

describe("an organization that was slowed down", () => {
  /** Queues in which `noisy` may have the least number of requests served in the lane of reads, and has them. */
  function slowed() {
    const queues = createQueues<string>();
    queues.enter("quiet", LANE, "q", 0);
    for (let i = 0; i < 64; i += 1) queues.enter("noisy", LANE, `n${i}`, 0);
    for (let i = 0; i < 20; i += 1) {
      queues.judge(100, 1);
      for (let left = 0; left < 10 && i < 6; left += 1) queues.leave("noisy", LANE);
    }
    for (let left = 0; left < 4 - CAP_MIN; left += 1) queues.leave("noisy", LANE);
    return queues;
  }

  test("waits, and others do not", () => {
    const queues = slowed();
    expect(queues.enter("noisy", LANE, "x", 2)).toBe("waiting");
    for (let i = 0; i < 10; i += 1) expect(queues.enter("quiet", LANE, `q${i}`, 2)).toBe("in");
  });

  test("does not wait in another lane", () => {
    expect(slowed().enter("noisy", "writes ", "x", 2)).toBe("in");
  });

  test("is refused beyond a number of waiting requests, and only it", () => {
    const queues = slowed();
    for (let i = 0; i < WAITING_MAX; i += 1) expect(queues.enter("noisy", LANE, `w${i}`, 2)).toBe("waiting");
    expect(queues.enter("noisy", LANE, "x", 2)).toBe("refused");
    expect(queues.enter("quiet", LANE, "y", 2)).toBe("in");
  });

  test("is served again when the loop is calm", () => {
    const queues = slowed();
    queues.enter("noisy", LANE, "x", 2);
    expect(queues.judge(0, 3)).toEqual(["x"]);
  });

  test("is served again when the others have been gone for a while", () => {
    const queues = slowed();
    queues.enter("noisy", LANE, "x", 2);
    expect(queues.judge(100, SHARED_MS + 1)).toEqual(["x"]);
  });
});

test("an organization that is alone is never slowed down, for any requests", () => {
  const queues = createQueues<number>();
  for (let i = 0; i < 500; i += 1) {
    expect(queues.enter("alone", i % 2 === 0 ? LANE : "writes ", i, i)).toBe("in");
    queues.judge(1000, i);
  }
});

test("an organization that arrives while others are there has all its requests served", () => {
  const queues = createQueues<number>();
  queues.enter("other", "writes ", -1, 0);
  const entered = Array.from({ length: 100 }, (_, i) => queues.enter("new", "writes ", i, 1));
  expect(entered).toEqual(entered.map(() => "in"));
});
