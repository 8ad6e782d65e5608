import { describe, expect, test } from "@jest/globals";
import {
  goesDeeper,
  isFinal,
  planAppend,
  planJoin,
  planComplete,
  KEY_RANGE_RULES,
  keyRangeOf,
  type KeyRangeWidth,
} from "./key-ranges.rules.ts";

/** Blocks or parts of these numbers of points of two keys. */
const of = (...points: number[]) => points.map((count) => ({ points: count, values: 2 * count }));
/** Plans as texts, each piece by the points of what it holds. */
const said = (plan: readonly { from: number; to: number }[], all: readonly { points: number }[]): string[] =>
  plan.map(({ from, to }) =>
    all
      .slice(from, to)
      .map(({ points }) => points)
      .join("+"),
  );

describe("new points of a key range", () => {
  test.each<[string, number[], number[], string[]]>([
    ["become a block where there is none", [], [64], ["64"]],
    ["leave larger blocks alone", [1024, 256], [64], ["64"]],
    ["are joined with the third block of their class", [256, 64, 64, 64], [64], ["64+64+64+64"]],
    ["are joined with all smaller ones", [1024, 40, 3], [500], ["40+3+500"]],
    [
      "are joined with two classes together where both are complete",
      [256, 256, 256, 64, 64, 64],
      [64],
      ["256+256+256+64+64+64+64"],
    ],
    ["leave a sealed block alone", [2048], [2000], ["2000"]],
    ["do not reach behind a sealed block", [1000, 2048], [1000], ["1000"]],
    [
      "are cut into blocks that are as full as their parts allow",
      [],
      [500, 500, 500, 500, 500, 500, 500, 500, 500],
      ["500+500+500+500+500+500+500+500", "500"],
    ],
    ["fill the blocks before them", [1500, 1500], [500, 500, 500], ["1500+1500+500+500", "500"]],
    ["that complete a block do not rewrite another for nothing", [2047, 2047], [500], ["2047+2047", "500"]],
  ])("%s", (_, stored, fresh, wanted) => {
    expect(said(planJoin(KEY_RANGE_RULES, of(...stored), of(...fresh)), of(...stored, ...fresh))).toEqual(wanted);
  });

  test("are only added where nothing may be rewritten", () => {
    const plan = planAppend(KEY_RANGE_RULES, of(64, 64, 64), of(64, 4090));
    expect(said(plan, of(64, 64, 64, 64, 4090))).toEqual(["64", "4090"]);
  });

  test("are nothing to plan for where there are none and blocks are few", () => {
    expect(planJoin(KEY_RANGE_RULES, of(256, 64, 64), [])).toEqual([]);
    expect(planJoin(KEY_RANGE_RULES, [], [])).toEqual([]);
  });

  test("that were only added are joined by the next look", () => {
    expect(said(planJoin(KEY_RANGE_RULES, of(256, 64, 64, 64, 64), []), of(256, 64, 64, 64, 64))).toEqual([
      "64+64+64+64",
    ]);
  });
});

describe("of a key range without further writes", () => {
  test.each<[string, number[], string[]]>([
    ["all small blocks become one", [960, 240, 60, 1], ["960+240+60+1"]],
    ["a large block is not rewritten for a little", [2000, 100, 30], ["100+30"]],
    ["one block stays as it is", [100], []],
    ["sealed blocks stay as they are", [3000, 4096], []],
    ["as few blocks remain as can be", [2000, 2000, 1000], ["2000+2000"]],
  ])("%s", (_, stored, wanted) => {
    expect(said(planComplete(KEY_RANGE_RULES, of(...stored)), of(...stored))).toEqual(wanted);
  });
});

describe("values go to narrower key ranges", () => {
  test.each<[string, boolean, KeyRangeWidth, number, number, number]>([
    ["not where there are none", false, 16, 0, 1e6, 0],
    ["if they touch two of them", true, 4096, 0, 1, 2],
    ["if they touch four with enough values each", true, 256, 0, 256, 4],
    ["not if they touch four with few values each", false, 256, 0, 255, 4],
    ["if each of many gets thousands", true, 4096, 0, 16 * 2048, 16],
    ["not if each of many gets fewer", false, 4096, 0, 16 * 2048 - 1, 16],
    ["not behind blocks that are wide, however few they touch", false, 4096, 1000, 1000, 1],
    ["together with wide blocks that grow too large", true, 4096, 65_000, 537, 0],
    ["not with wide blocks that are just large enough", false, 4096, 65_000, 536, 0],
    ["with wide blocks that are too large already", true, 256, 65_537, 0, 0],
  ])("%s", (_, wanted, width, stored, fresh, children) => {
    expect(goesDeeper(KEY_RANGE_RULES, { firstKey: 0, width }, stored, fresh, children)).toBe(wanted);
  });

  test("of neighboring wide key ranges at different times, all of them between half and all of the bound", () => {
    const roundOf = (keyRange: number): number => {
      let rounds = 1;
      const at = { firstKey: keyRange * 4096, width: 4096 } as const;
      while (!goesDeeper(KEY_RANGE_RULES, at, rounds * 1024, 1024, 0)) rounds += 1;
      return rounds + 1;
    };
    const rounds = Array.from({ length: 32 }, (_, keyRange) => roundOf(keyRange));
    expect([Math.min(...rounds), Math.max(...rounds)]).toEqual([33, 65]);
    const together = Map.groupBy(rounds, (round) => round);
    expect(Math.max(...[...together.values()].map(({ length }) => length))).toBeLessThanOrEqual(2);
  });
});

test("a key range begins at a multiple of its width", () => {
  expect(([16, 256, 4096] as const).map((width) => keyRangeOf(5000, width).firstKey)).toEqual([4992, 4864, 4096]);
});

test("only narrow blocks that are sealed are final", () => {
  const widths = [16, 256, 4096] as const;
  expect(widths.map((width) => isFinal(KEY_RANGE_RULES, width, 4096))).toEqual([true, false, false]);
  expect([2047, 2048].map((points) => isFinal(KEY_RANGE_RULES, 16, points))).toEqual([false, true]);
});
