import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { exactDecimal } from "./exact-decimal.ts";

describe("one number written in several ways", () => {
  test.each([
    [["1", "1.0", "1e0", "10e-1", "0.1E+1", "100E-2"]],
    [["0", "-0", "0.0", "-0.00e7", "0e-5"]],
    [["-2.5", "-25e-1", "-2.500"]],
    [["1200", "1.2e3", "12e2"]],
    [["0.001", "1e-3", "0.1e-2"]],
  ])("%j is one text", (ways) => {
    expect(new Set(ways.map(exactDecimal)).size).toBe(1);
  });
});

describe("numbers that differ", () => {
  test.each([
    ["1", "-1"],
    ["9007199254740992", "9007199254740993"],
    ["0.1", "0.10000000000000000001"],
    ["1e10", "1e11"],
    ["12345678901234567890", "12345678901234567891"],
    ["1", "10"],
  ])("%s and %s are two texts", (a, b) => {
    expect(exactDecimal(a)).not.toBe(exactDecimal(b));
  });
});

test("equal doubles written by JSON.stringify, and any shift of the point, are equal", () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: 0, max: 40 }),
      (value, zeros) => {
        const text = JSON.stringify(value);
        const [mantissa, exponent = "0"] = text.split("e");
        const longer = `${mantissa}${mantissa?.includes(".") ? "" : "."}${"0".repeat(zeros + 1)}e${exponent}`;
        expect(exactDecimal(longer)).toBe(exactDecimal(text));
      },
    ),
  );
});

test("integers are equal exactly when they are equal", () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt(), (a, b) => {
      expect(exactDecimal(String(a)) === exactDecimal(String(b))).toBe(a === b);
    }),
  );
});

test("half a million zeros inside a number take no noticeable time", () => {
  // An expression for the zeros at the end would take minutes here, beyond the time of any test.
  const digits = `0.1${"0".repeat(500_000)}1`;
  expect(exactDecimal(digits)).toHaveLength(500_002 + "e-500002".length);
});
