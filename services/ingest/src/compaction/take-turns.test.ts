import { describe, expect, test } from "@jest/globals";
import { takeTurns } from "./work-loop.ts";

/** Turns by a clock that a test moves, and that moves by the given milliseconds in each round of other work. */
function turnsBeside(rounds: readonly number[]) {
  let now = 0;
  let had = 0;
  const turn = takeTurns({
    nowMs: () => now,
    others: () => {
      now += rounds[had] ?? 0;
      had += 1;
      return Promise.resolve();
    },
  });
  return {
    /** Returns how many rounds other work had between two steps, where the first took `workMs`. */
    after: async (workMs: number): Promise<number> => {
      now += workMs;
      const before = had;
      await turn();
      return had - before;
    },
  };
}

describe("between its steps, long work", () => {
  test("continues as long as its turn lasts", async () => {
    const turns = turnsBeside([]);
    expect(await turns.after(1)).toBe(0);
    expect(await turns.after(0.9)).toBe(0);
    expect(await turns.after(0.2)).toBe(1);
    expect(await turns.after(1.9)).toBe(0);
  });

  test("waits until others have nothing left to do", async () => {
    const turns = turnsBeside([1, 1, 0.5, 0.1, 1]);
    expect(await turns.after(2)).toBe(4);
    expect(await turns.after(2)).toBe(2);
  });

  test("gets its turn even if others are never done", async () => {
    const turns = turnsBeside(Array.from({ length: 100 }, () => 1.5));
    expect(await turns.after(2)).toBe(3);
    expect(await turns.after(20)).toBe(3);
  });
});
