import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseInstant } from "./fields/instant.ts";
import { writeInstants } from "./instant-text.ts";

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
      expect(column.map((instant) => parseInstant(write(instant))?.micros)).toEqual(column);
    }),
  );
});
