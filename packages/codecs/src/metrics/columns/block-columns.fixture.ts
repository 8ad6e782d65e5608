import fc from "fast-check";

import type { BlockColumns } from "./block-columns.ts";
import { anyValue, bitsOf } from "./metric-columns.fixture.ts";

/** A stored point: its step and times, and its values by key id. */
export type BlockPoint = {
  readonly step: number;
  readonly receivedUs: number;
  readonly timestampUs: number | null;
  readonly values: ReadonlyMap<number, number>;
};

/** Returns the columns of the points, by the definition. */
export function blockColumnsOf(points: readonly BlockPoint[]): BlockColumns {
  const keyIds = [...new Set(points.flatMap((point) => [...point.values.keys()]))].sort((a, b) => a - b);
  const values: number[] = [];
  const pointIndexes: number[] = [];
  const offsets = [0];
  for (const keyId of keyIds) {
    points.forEach((point, i) => {
      const value = point.values.get(keyId);
      if (value === undefined) return;
      values.push(value);
      pointIndexes.push(i);
    });
    offsets.push(values.length);
  }
  const dense = values.length === keyIds.length * points.length;
  const timed = points.some((point) => point.timestampUs !== null);
  return {
    keyIds: Uint32Array.from(keyIds),
    steps: Float64Array.from(points, (point) => point.step),
    receivedUs: Float64Array.from(points, (point) => point.receivedUs),
    timestampsUs: Float64Array.from(timed ? points : [], (point) => point.timestampUs ?? Number.NaN),
    offsets: Uint32Array.from(dense ? [] : offsets),
    pointIndexes: Uint32Array.from(dense ? [] : pointIndexes),
    values: Float64Array.from(values),
  };
}

/** Returns the columns with each double as its bits, to compare doubles that `===` calls equal. */
export function inBits(columns: BlockColumns | null): unknown {
  if (columns === null) return null;
  const { keyIds, steps, receivedUs, timestampsUs, offsets, pointIndexes, values } = columns;
  return {
    keyIds: [...keyIds],
    steps: bitsOf(steps),
    receivedUs: bitsOf(receivedUs),
    // The bits of an absent time are not kept.
    timestampsUs: [...timestampsUs],
    offsets: [...offsets],
    pointIndexes: [...pointIndexes],
    values: bitsOf(values),
  };
}

/** Returns the points at which the key has a value. */
export function pointsWith(points: readonly BlockPoint[], keyId: number): BlockPoint[] {
  return points.filter((point) => point.values.has(keyId));
}

/** Values as training runs log them, and any others: of each kind that a number codec is made for, mixed. */
const value = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(-0, 0.5, 0.1, 5e-324, -2.2250738585072014e-308, Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 53),
  fc.integer().map((n) => n / 1_000),
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  anyValue,
);

const step = fc.oneof(fc.nat(6), fc.nat(1_000), fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }));

/**
 * Up to 40 points of up to five keys in a key range that starts at 32, so that keys, steps and values repeat. Some series are dense, some have no
 * times, some have values of one kind only; in some the steps only ascend, in others they go back often.
 */
export const anyBlockPoints: fc.Arbitrary<BlockPoint[]> = fc
  .record({
    keyIds: fc.uniqueArray(fc.integer({ min: 32, max: 47 }), { minLength: 1, maxLength: 5 }),
    dense: fc.boolean(),
    timed: fc.boolean(),
    ascending: fc.boolean(),
    kind: fc.constantFrom(
      value,
      fc.integer({ min: -500, max: 500 }),
      fc.constantFrom(0.25, -0),
      fc.constantFrom(NaN, 0.5, Infinity),
      anyValue,
    ),
    count: fc.integer({ min: 1, max: 40 }),
  })
  .chain(({ keyIds, dense, timed, ascending, kind, count }) => {
    const chosen = fc.shuffledSubarray(keyIds, { minLength: dense ? keyIds.length : 1 });
    const values = chosen.chain((ids) =>
      fc
        .array(kind, { minLength: ids.length, maxLength: ids.length })
        .map((own) => new Map(own.map((one, i) => [ids[i]!, one]))),
    );
    const timestampUs = fc.option(
      fc.integer({ min: 0, max: 9 }).map((n) => 1_767_000_000_000_000 + n * 1_000_003),
      {
        nil: null,
      },
    );
    const receivedUs = fc.nat(5).map((request) => 1_767_000_000_000_000 + request * 777_777);
    const point = fc.record({ step, receivedUs, timestampUs: timed ? timestampUs : fc.constant(null), values });
    const points = fc.array(point, { minLength: count, maxLength: count });
    return ascending ? points.map((all) => all.map((one, i) => ({ ...one, step: i / 2 }))) : points;
  });
