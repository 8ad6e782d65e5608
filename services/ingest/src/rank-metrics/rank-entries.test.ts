import { describe, expect, test } from "@jest/globals";
import { emptyEntries, joinEntries, newestEntries, newestSteps, type ArrivedEntries } from "./rank-entries.rules.ts";

type Entry = readonly [step: number, rank: number, value: number, receivedUs?: number];

function entriesOf(...entries: Entry[]): ArrivedEntries {
  return {
    steps: Float64Array.from(entries, ([step]) => step),
    ranks: Uint16Array.from(entries, ([, rank]) => rank),
    worldSizes: Uint16Array.from(entries, ([, rank]) => rank + 1),
    values: Float64Array.from(entries, ([, , value]) => value),
    weights: Float64Array.from(entries, ([, , value]) => value / 2),
    receivedUs: Float64Array.from(entries, ([, , , receivedUs = 0]) => receivedUs),
  };
}

describe("the newest entries", () => {
  test("of entries in order, one of each, are these", () => {
    const entries = entriesOf([0, 0, 1], [0, 2, 2], [1.5, 0, 3]);
    expect(newestEntries(entries)).toEqual(entries);
    expect(newestEntries(emptyEntries(0))).toEqual(emptyEntries(0));
  });

  test("are sorted by step and rank, with all their data", () => {
    expect(newestEntries(entriesOf([1e300, 0, 1], [0, 511, 2], [0.5, 1, 3], [0, 3, 4]))).toEqual(
      entriesOf([0, 3, 4], [0, 511, 2], [0.5, 1, 3], [1e300, 0, 1]),
    );
  });

  test("are those that came last, wherever they stand, and of one moment the last in order", () => {
    const [a, b, c]: Entry[][] = [
      [
        [0, 0, 1, 5],
        [1, 0, 1, 5],
        [2, 0, 1, 5],
      ],
      [
        [0, 0, 2, 4],
        [1, 0, 2, 5],
        [2, 0, 2, 6],
      ],
      [
        [0, 0, 3, 1],
        [2, 0, 3, 2],
      ],
    ];
    const joined = joinEntries([a, b, c].map((part) => entriesOf(...part!)));
    expect(newestEntries(joined)).toEqual(entriesOf([0, 0, 1, 5], [1, 0, 2, 5], [2, 0, 2, 6]));
  });
});

describe("the newest steps", () => {
  const entries = entriesOf([0, 0, 1], [0, 1, 2], [1, 0, 3], [2, 0, 4], [2, 1, 5]);
  test.each([
    [1, [2, 2]],
    [2, [1, 2, 2]],
    [3, [0, 0, 1, 2, 2]],
    [9, [0, 0, 1, 2, 2]],
  ])("when %i are wanted have all their ranks", (stepsMax, steps) => {
    expect([...newestSteps(entries, stepsMax).steps]).toEqual(steps);
  });
});
