import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isInstant, readCursor, writeCursor } from "./cursor.ts";

describe("cursors", () => {
  test("are read as they were written", () => {
    const scalar = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constant(null),
    );
    // JSON has no -0.
    const field = fc.oneof(scalar, fc.array(scalar)).map((one) => (Object.is(one, -0) ? 0 : one));
    fc.assert(
      fc.property(fc.array(field, { minLength: 1 }), (fields) => {
        const cursor = writeCursor(fields);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(JSON.stringify(readCursor(cursor, fields.length))).toBe(JSON.stringify(fields));
        expect(readCursor(cursor, fields.length + 1)).toBeUndefined();
      }),
    );
  });

  const encoded = (text: string): string => Buffer.from(text).toString("base64url");
  test.each([
    ["nothing", ""],
    ["no base64url", "?"],
    ["no JSON", encoded("[1,")],
    ["an object", encoded("{}")],
    ["a text", encoded('"ab"')],
    ["white space", encoded("[1, 2]")],
    ["another spelling of a number", encoded("[1.0,2]")],
    ["padding", `${writeCursor([1, 234])}=`],
    ["characters that are skipped", `${writeCursor([1, 2])} `],
    ["too few fields", writeCursor([1])],
    ["too many fields", writeCursor([1, 2, 3])],
    ["bytes that are not UTF-8", Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x2c, 0x31, 0x5d]).toString("base64url")],
  ])("%s: refused", (_what, cursor) => expect(readCursor(cursor, 2)).toBeUndefined());
});

test.each<[unknown, boolean]>([
  ["2026-01-05T10:00:00Z", true],
  ["2026-01-05T10:00:00.5Z", true],
  ["2024-02-29T23:59:59.999999Z", true],
  ["2026-02-29T10:00:00Z", false],
  ["2026-02-30T10:00:00Z", false],
  ["0000-01-01T00:00:00Z", false],
  ["2026-01-05T24:00:00Z", false],
  ["2026-01-05T10:00:60Z", false],
  ["2026-01-05T10:00:00.1234567Z", false],
  ["2026-01-05T10:00:00+00:00", false],
  ["2026-01-05 10:00:00Z", false],
  ["infinity", false],
  [5, false],
  [undefined, false],
])("%j is an instant: %s", (value, is) => expect(isInstant(value)).toBe(is));
