import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { logStart, readLogCursor, scanBound, searchPage, writeLogCursor } from "./log-page.rules.ts";

describe("a cursor", () => {
  test("returns every position, in at most 256 bytes without padding", () => {
    const part = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(part, part, (lineNumber, id) => {
        const cursor = writeLogCursor({ lineNumber, id });
        expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,256}$/);
        expect(readLogCursor(cursor)).toEqual({ lineNumber, id });
      }),
    );
  });

  test("that is empty means the start of the stream", () => {
    expect(readLogCursor("")).toEqual(logStart);
  });

  const encoded = (text: string) => Buffer.from(text).toString("base64url");
  test.each([
    ["a list of one", encoded("[1]")],
    ["fractions", encoded("[1.5,2]")],
    ["numbers beyond 2^53", encoded("[9007199254740992,2]")],
    ["texts", encoded('["1","2"]')],
    ["a text as id", encoded('[1,"x"]')],
  ])("that is %s is refused", (_, cursor) => {
    expect(() => readLogCursor(cursor)).toThrow("cursor is not valid");
  });
});

test.each([
  [1, 20],
  [2, 40],
  [250, 5000],
  [1000, 5000],
  [5000, 5001],
])("a search for a page of %d lines looks at %d lines", (limit, bound) => {
  expect(scanBound(limit)).toBe(bound);
});

describe("the page of a search", () => {
  const scan = (count: number, ...hits: number[]) =>
    Array.from({ length: count }, (_, i) => ({ lineNumber: i, id: i, message: hits.includes(i) ? "hit" : null }));

  test("is full at the last hit that fits", () => {
    const page = searchPage(scan(10, 1, 2, 3), 2);
    expect(page).toMatchObject({ next: { lineNumber: 2 }, truncated: false });
    expect(page.lines).toHaveLength(2);
  });

  test("is full also when the last hit that fits is the last line looked at", () => {
    expect(searchPage(scan(21, 19), 1)).toMatchObject({ next: { lineNumber: 19 }, truncated: false });
  });

  test("ends without a cursor at the end of the stream", () => {
    expect(searchPage(scan(20, 3), 2)).toMatchObject({ next: undefined, truncated: false });
  });

  test("continues after the bound, and leaves the line beyond it to the next page", () => {
    const page = searchPage(scan(41, 40), 2);
    expect(page).toMatchObject({ lines: [], next: { lineNumber: 39 }, truncated: true });
  });
});
