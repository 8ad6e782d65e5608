import { describe, expect, test } from "@jest/globals";
import { TAPE_LENGTH } from "./metric-values.ts";
import { describeLoad, keyNames, writeAt, type WriteLoad } from "./write-load.ts";

const load = (wish: Partial<WriteLoad>): WriteLoad => ({ runs: 3, points: 1, keys: 6, concurrency: 1, ...wish });

describe("writes of a load", () => {
  test("go to the runs in turn, each at its next steps", () => {
    const writes = Array.from({ length: 7 }, (_, index) => writeAt(load({ points: 500 }), index));
    expect(writes.map(({ run }) => run)).toEqual([0, 1, 2, 0, 1, 2, 0]);
    expect(writes.map(({ firstStep }) => firstStep)).toEqual([0, 0, 0, 500, 500, 500, 1000]);
  });

  test.each([
    ["one step", load({})],
    ["100 keys", load({ points: 500, keys: 100 })],
    ["1,000 keys", load({ keys: 1000 })],
  ])("of %s take their values from within the tape", (_what, shape) => {
    for (let index = 0; index < 200_000; index += 997) {
      const { tapeFrom } = writeAt(shape, index);
      expect(tapeFrom).toBeGreaterThanOrEqual(0);
      expect(tapeFrom + shape.points * shape.keys).toBeLessThanOrEqual(TAPE_LENGTH);
    }
  });

  test.each([
    ["one run", 1],
    ["three runs", 3],
    ["32 runs", 32],
  ])("to %s are not the same twice within 4,000 points of a run", (_what, runs) => {
    const shape = load({ runs, points: 500, keys: 2 });
    const places = Array.from({ length: 8 }, (_, turn) => writeAt(shape, turn * runs).tapeFrom);
    expect(new Set(places).size).toBe(8);
  });
});

test.each([6, 2, 20, 100, 1000])("%i keys are distinct and sorted", (count) => {
  const keys = keyNames(count);
  expect(new Set(keys).size).toBe(count);
  expect(keys).toEqual(keys.toSorted());
});

test("a load says its runs and organizations", () => {
  expect(describeLoad(load({ runs: 1, concurrency: 8 }))).toBe(
    "single step x 6 keys, 1 run of 1 organization, 8 at a time",
  );
});
