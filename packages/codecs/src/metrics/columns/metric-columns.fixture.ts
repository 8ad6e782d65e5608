import fc from "fast-check";

import { createColumnsBuilder } from "./columns-builder.ts";
import type { MetricColumns } from "./metric-columns.ts";

/** A point as a client sends it. */
export type Point = { metrics: Record<string, number>; step: number; timestampUs: number | null };

/** Returns the columns of the points, made by the builder. */
export function columnsOf(points: readonly Point[]): MetricColumns {
  const builder = createColumnsBuilder({ readOther: (value) => value as number });
  for (const { metrics, step, timestampUs } of points) builder.addPoint(metrics, step, timestampUs);
  return builder.build();
}

/** Returns the columns of points of one key without times. */
export function columnsOfSeries(key: string, ...points: [step: number, value: number][]): MetricColumns {
  return columnsOf(points.map(([step, value]) => ({ metrics: { [key]: value }, step, timestampUs: null })));
}

/** Returns one id per key: `first`, `first + stride` and so on. */
export function idsFrom(columns: MetricColumns, first: number, stride: number): Uint32Array<ArrayBuffer> {
  return Uint32Array.from(columns.keys, (_, i) => first + stride * i);
}

/** Returns a number between 0 and 1 of 53 bits that looks random and is always the same for `i`. */
export function noise(i: number): number {
  const high = Math.imul(i + 1, 0x9e37_79b1) >>> 0;
  const low = Math.imul(high ^ (high >>> 13), 0x85eb_ca6b) >>> 0;
  return (high * 2 ** 21 + (low >>> 11)) / 2 ** 53;
}

/** A double of any bit pattern, NaNs with payloads and subnormals included. */
export const anyBits: fc.Arbitrary<number> = fc
  .bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn })
  .map((bits) => new Float64Array(new BigUint64Array([bits]).buffer)[0]!);

/** Returns the bit patterns of doubles, to compare doubles that `===` calls equal. */
export function bitsOf(numbers: ArrayLike<number>): bigint[] {
  return [...new BigUint64Array(Float64Array.from(numbers).buffer)];
}

/** A key that has a UTF-8 form: ASCII, or any characters but lone surrogates. */
export const anyKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("loss", "acc", "train/loss", "z", ""),
  fc.string({ unit: "binary", maxLength: 6 }),
);

/** A value as training runs log them: any finite double, and now and then one that is not finite. */
export const anyValue: fc.Arbitrary<number> = fc.oneof(
  { weight: 9, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Infinity, -Infinity) },
);

const step = fc.oneof(fc.nat(6), fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }));
const timestampUs = fc.option(
  fc.oneof(fc.integer({ min: 1_767_000_000_000_000, max: 1_767_000_009_000_000 }), fc.maxSafeInteger()),
  {
    nil: null,
  },
);

/** A batch of up to 12 points over few keys, so that keys, steps and values repeat; some batches are dense, some have no times. */
export const anyPoints: fc.Arbitrary<Point[]> = fc
  .record({
    keys: fc.uniqueArray(anyKey, { minLength: 1, maxLength: 5 }),
    dense: fc.boolean(),
    timed: fc.boolean(),
    count: fc.nat(12),
  })
  .chain(({ keys, dense, timed, count }) => {
    const names = dense
      ? fc.shuffledSubarray(keys, { minLength: keys.length })
      : fc.shuffledSubarray(keys, { minLength: 1 });
    const metrics = names.chain((chosen) =>
      fc.array(anyValue, { minLength: chosen.length, maxLength: chosen.length }).map((values) =>
        // A null prototype, so that a key named "__proto__" is a key.
        Object.assign(
          Object.create(null) as Record<string, number>,
          Object.fromEntries(chosen.map((key, i) => [key, values[i]!])),
        ),
      ),
    );
    const point = fc.record({ metrics, step, timestampUs: timed ? timestampUs : fc.constant(null) });
    return fc.array(point, { minLength: count, maxLength: count });
  });
