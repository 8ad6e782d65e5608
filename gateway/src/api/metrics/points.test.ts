import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { PointColumnsSchema } from "@tidemark/proto/ingest/v1/ingest";
import { createJsonBytes } from "../../http/json.ts";
import { parseMicros } from "../fields/instant.ts";
import { pointsBytesMax, writeInstants, writePoints } from "./points.ts";
import fc from "fast-check";

const anyNumber = fc.oneof(
  fc.integer(),
  fc.nat(2000),
  fc.constantFrom(9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, -1, 5e-324, -Number.MAX_VALUE, 1e21),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const anyMicros = fc.oneof(
  fc.constantFrom(0, 1_767_225_600_000_000, 4_102_444_800_123_456),
  fc.integer({ min: 1_767_225_600_000_000, max: 1_767_225_600_000_003 }),
);
const anyKey = fc.oneof(fc.constantFrom("loss", 'a"b', "é\u{1F600}\n"), fc.string({ unit: "binary", maxLength: 40 }));

/** An instant as JavaScript writes it, with its microseconds and without trailing zeros. */
function instant(micros: number): string {
  const text = `${new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, "0")}`;
  return `${text.replace(/\.?0+$/, "")}Z`;
}

describe("points as JSON", () => {
  test("are what JSON.stringify makes of them, NaN and infinities as texts, within the bound of bytes", () => {
    const anyPoint = fc.tuple(
      fc.oneof(fc.nat(9999), anyNumber),
      fc.oneof(
        { weight: 9, arbitrary: anyNumber },
        { weight: 1, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity) },
      ),
      anyMicros,
      fc.option(anyMicros, { nil: Number.NaN }),
    );
    fc.assert(
      fc.property(
        anyKey,
        fc.array(anyPoint, { maxLength: 12 }),
        fc.boolean(),
        fc.boolean(),
        (key, points, timed, isLocal) => {
          const message = create(PointColumnsSchema, {
            steps: points.map(([step]) => step),
            values: points.map(([, value]) => value),
            createdUs: points.map(([, , created]) => created),
            timestampsUs: timed ? points.map(([, , , sent]) => sent) : [],
          });
          // Within one process columns are not copied into lists.
          const columns = isLocal ? { ...message, values: Float64Array.from(message.values) as never } : message;
          const bound = pointsBytesMax(key, columns);
          const target = Buffer.alloc(bound + 3);
          const end = writePoints(target, 3, key, columns);
          const wanted = points.map(([step, value, created, sent]) => ({
            key,
            step,
            value: Number.isFinite(value) ? value : String(value),
            created_at: instant(created),
            ...(timed && !Number.isNaN(sent) ? { timestamp: instant(sent) } : {}),
          }));
          expect(target.toString("utf8", 3, end)).toBe(JSON.stringify(wanted).slice(1, -1));
          expect(end - 3).toBeLessThanOrEqual(bound);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("JSON that is written piece by piece", () => {
  test("is all of it, in order, however little room there was", () => {
    for (const capacity of [0, 1, 1000]) {
      const json = createJsonBytes(capacity);
      json.text('["é😀"');
      json.write(5, (target, at) => at + target.write(",1", at));
      json.text(",");
      json.numbers([0.1, -7, 1e300]);
      json.text(",");
      json.numbers(Float64Array.of(0.1, Number.NaN));
      json.text(",");
      json.values(Float64Array.of(0.1, Number.NaN, Infinity, -Infinity));
      json.text("]");
      expect(json.take().toString()).toBe('["é😀",1,[0.1,-7,1e+300],[0.1,null],[0.1,"NaN","Infinity","-Infinity"]]');
    }
  });
});

test.each([
  [0, "1970-01-01T00:00:00Z"],
  [1, "1970-01-01T00:00:00.000001Z"],
  [1_767_225_600_250_000, "2026-01-01T00:00:00.25Z"],
  [1_767_225_600_000_100, "2026-01-01T00:00:00.0001Z"],
  [-1, "1969-12-31T23:59:59.999999Z"],
  [-1_000_000, "1969-12-31T23:59:59Z"],
])("%d is written as %s", (micros, text) => {
  expect(writeInstants()(micros)).toBe(text);
});

test("one writer writes any column of instants, and each reads back as it was", () => {
  // The years in which a double holds every microsecond.
  const micros = fc.integer({ min: -9e15, max: 9e15 });
  fc.assert(
    fc.property(fc.array(fc.oneof(micros, fc.integer({ min: 0, max: 2_000_000 }))), (column) => {
      const write = writeInstants();
      expect(column.map((instant) => parseMicros(write(instant)))).toEqual(column);
    }),
  );
});
