import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { endOf, numberOf, readPosition, writePosition } from "./position.rules.ts";

test("a position that was written is read as it was", () => {
  const publisher = fc.array(fc.constantFrom(..."0123456789abcdef".split("")), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(fc.tuple(publisher, fc.maxSafeNat()), { maxLength: 20 }), (parts) => {
      const position = new Map(parts.map(([id, number]) => [id.join(""), number]));
      expect(readPosition(writePosition(position))).toEqual(position);
    }),
  );
});

test.each([
  "",
  "1",
  "00",
  "aaaaaaaaaaaa",
  "aaaaaaaaaaaa-",
  "aaaaaaaaaaaa_1",
  "AAAAAAAAAAAA-1",
  "aaaaaaaaaaaa-1.",
  ".aaaaaaaaaaaa-1",
  "aaaaaaaaaaaa--1",
  "aaaaaaaaaaaa-1 ",
  "aaaaaaaaaaaa-zzzzzzzzzzz",
  "aaaaaaaaaaaa-1.aaaaaaaaaaaa",
  Array.from({ length: 300 }, () => "aaaaaaaaaaaa-1").join("."),
])("%j is not a position", (text) => {
  expect(readPosition(text)).toBeUndefined();
});

test("numbers ascend within a message and lie between the ends of the ticks", () => {
  expect(endOf(0)).toBe(0);
  const numbers = [endOf(6), numberOf(7, 0), numberOf(7, 1), numberOf(7, 1022), endOf(7), numberOf(8, 0)];
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numberOf(7, 5000)).toBeLessThan(endOf(7));
});
