import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import {
  logStart,
  readLogCursor,
  scanBound,
  searchPage,
  writeLogCursor,
  createPageWindow,
  createTailWindow,
  type LineWindow,
  type LogPosition,
} from "./log-page.rules.ts";
import {
  columnsOfRequest,
  comparePositions,
  decodeLogBlock,
  encodeLogBlock,
  type LogColumns,
} from "@tidemark/codecs/logs";

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

type Line = LogPosition & { readonly message: string };

/** A stored part of lines with the ids from `id` on. */
function segmentOf(id: number, lines: readonly { lineNumber: number; message: string }[]): LogColumns {
  const request = columnsOfRequest(lines.map((line) => ({ ...line, sent: null })));
  return decodeLogBlock(encodeLogBlock(request, { compressFrom: Infinity }), { id, createdUs: 0 });
}

const anySegments = fc
  .array(
    fc.array(fc.record({ lineNumber: fc.nat(30), message: fc.constantFrom("Aa", "b", "") }), {
      minLength: 1,
      maxLength: 12,
    }),
    { maxLength: 8 },
  )
  .map((parts) => parts.map((lines, i) => ({ id: (i + 1) * 64, lines })));

const allLines = (parts: readonly { id: number; lines: readonly Omit<Line, "id">[] }[]): Line[] =>
  parts.flatMap(({ id, lines }) => lines.map((line, i) => ({ ...line, id: id + i }))).sort(comparePositions);
const seen = (window: LineWindow) => window.lines().map(({ lineNumber, id, message }) => [lineNumber, id, message]);

describe("a window on the lines after a position", () => {
  test("has the same lines in any order of the parts, and says when it needs no more of them", () => {
    fc.assert(
      fc.property(
        anySegments,
        fc.nat(30),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom("", "a", "AA", "absent"),
        (parts, lineNumber, linesMax, matchesMax, text) => {
          const after = { lineNumber, id: 100 };
          const rest = allLines(parts).filter((line) => comparePositions(line, after) > 0);
          const wanted: [number, number, string | null][] = [];
          let matches = 0;
          for (const line of rest) {
            if (wanted.length === linesMax || matches === matchesMax) break;
            const matched = line.message.toLowerCase().includes(text.toLowerCase());
            if (matched) matches += 1;
            wanted.push([line.lineNumber, line.id, matched ? line.message : null]);
          }
          const full = wanted.length === linesMax || matches === matchesMax;
          for (const ordered of [parts, parts.toReversed()]) {
            const window = createPageWindow({ after, linesMax, matchesMax, text });
            for (const { id, lines } of ordered) window.add(segmentOf(id, lines));
            expect(seen(window)).toEqual(wanted);
            const last = wanted.at(-1);
            const end = last === undefined ? logStart : { lineNumber: last[0], id: last[1] };
            expect(window.isDoneAt({ ...end, id: end.id + 1 })).toBe(full);
            expect(window.isDoneAt(end)).toBe(false);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("a window on the last lines", () => {
  test("has the same lines in any order of the parts, and says when it needs no more of them", () => {
    fc.assert(
      fc.property(anySegments, fc.integer({ min: 1, max: 20 }), (parts, count) => {
        const wanted = allLines(parts)
          .slice(-count)
          .map(({ lineNumber, id, message }) => [lineNumber, id, message]);
        for (const ordered of [parts, parts.toReversed()]) {
          const window = createTailWindow(count);
          for (const { id, lines } of ordered) window.add(segmentOf(id, lines));
          expect(seen(window)).toEqual(wanted);
          const first = window.lines()[0] ?? logStart;
          expect(window.isDoneAt({ ...first, id: first.id - 1 })).toBe(wanted.length === count);
          expect(window.isDoneAt(first)).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });
});
