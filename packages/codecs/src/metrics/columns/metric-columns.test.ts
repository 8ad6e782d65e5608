import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { isCodecError } from "../../bytes.ts";
import { anyPoints, columnsOf } from "./metric-columns.fixture.ts";
import { columnsFromParts, type MetricColumnsParts } from "./metric-columns.ts";

const dense: MetricColumnsParts = {
  keys: ["acc", "loss"],
  steps: [0, 1],
  timestampsUs: [],
  offsets: [],
  pointIndexes: [],
  values: [0.1, 0.2, 2, 1],
};
const sparse: MetricColumnsParts = {
  keys: ["acc", "loss"],
  steps: [0, 1, 2],
  timestampsUs: [NaN, 5, 6],
  offsets: [0, 1, 4],
  pointIndexes: [2, 0, 1, 2],
  values: [0.1, 3, 2, 1],
};

const faults: [string, MetricColumnsParts][] = [
  ["keys are out of order", { ...dense, keys: ["loss", "acc"] }],
  ["a key is repeated", { ...dense, keys: ["acc", "acc"] }],
  ["a dense batch lacks a value", { ...dense, values: [1, 2, 3] }],
  ["a dense batch has a value too many", { ...dense, values: [1, 2, 3, 4, 5] }],
  ["a point has no value at all", { ...dense, keys: [], values: [] }],
  ["a key has no value at all", { ...dense, steps: [], values: [] }],
  ["point indexes have no offsets", { ...dense, pointIndexes: [0] }],
  ["there are more times than points", { ...dense, timestampsUs: [1, 2, 3] }],
  ["there are fewer times than points", { ...dense, timestampsUs: [1] }],
  ["there is an offset too few", { ...sparse, offsets: [0, 4] }],
  ["offsets do not start at 0", { ...sparse, offsets: [1, 2, 4] }],
  ["offsets do not end at the last value", { ...sparse, offsets: [0, 1, 3] }],
  ["offsets go back", { ...sparse, keys: ["a", "b", "c"], offsets: [0, 3, 2, 4] }],
  ["an offset lies behind the last value", { ...sparse, keys: ["a", "b", "c"], offsets: [0, 9, 3, 4] }],
  ["a sparse key has no value", { ...sparse, offsets: [0, 0, 4] }],
  ["there is a point index too few", { ...sparse, pointIndexes: [2, 0, 1] }],
  ["a point index is out of range", { ...sparse, pointIndexes: [3, 0, 1, 2] }],
  ["point indexes of a key go back", { ...sparse, pointIndexes: [2, 1, 0, 2] }],
  ["a point index of a key is repeated", { ...sparse, pointIndexes: [2, 0, 1, 1] }],
  ["a step is negative", { ...dense, steps: [-1, 0] }],
  ["a step is not a number", { ...dense, steps: [NaN, 0] }],
  ["a step is infinite", { ...dense, steps: [Infinity, 0] }],
];

describe("columns from a message", () => {
  test.each([
    ["dense columns", dense],
    ["sparse columns with times", sparse],
    ["no points at all", { ...dense, keys: [], steps: [], values: [] }],
  ])("%s are taken", (_, parts) => {
    const columns = columnsFromParts(parts);
    expect(columns.keys).toEqual(parts.keys);
    expect(columns.steps).toEqual(Float64Array.from(parts.steps));
    expect(columns.timestampsUs).toEqual(Float64Array.from(parts.timestampsUs));
    expect(columns.offsets).toEqual(Uint32Array.from(parts.offsets));
    expect(columns.pointIndexes).toEqual(Uint32Array.from(parts.pointIndexes));
    expect(columns.values).toEqual(Float64Array.from(parts.values));
  });

  test.each(faults)("are refused when %s", (_, parts) => {
    let thrown: unknown;
    try {
      columnsFromParts(parts);
    } catch (error) {
      thrown = error;
    }
    expect(isCodecError(thrown)).toBe(true);
  });

  test("any batch survives the way through plain arrays", () => {
    fc.assert(
      fc.property(anyPoints, (points) => {
        const columns = columnsOf(points);
        const parts = {
          keys: [...columns.keys],
          steps: [...columns.steps],
          timestampsUs: [...columns.timestampsUs],
          offsets: [...columns.offsets],
          pointIndexes: [...columns.pointIndexes],
          values: [...columns.values],
        };
        expect(columnsFromParts(parts)).toEqual(columns);
      }),
    );
  });

  test("typed arrays are taken over, not copied", () => {
    const values = Float64Array.from(dense.values);
    expect(columnsFromParts({ ...dense, values }).values).toBe(values);
  });
});

describe("a codec error", () => {
  test.each<[string, unknown, boolean]>([
    ["any error of that name is one", Object.assign(new TypeError("x"), { name: "CodecError" }), true],
    ["another error is not one", new Error("CodecError"), false],
    ["null is not one", null, false],
    ["a text is not one", "CodecError", false],
  ])("%s", (_, error, expected) => {
    expect(isCodecError(error)).toBe(expected);
  });
});
