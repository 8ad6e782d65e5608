import { describe, expect, test } from "@jest/globals";
import {
  columnsOfRequest,
  comparePositions,
  decodeLogBlock,
  encodeLogBlock,
  type LogColumns,
} from "@tidemark/codecs/logs";
import fc from "fast-check";
import { createPageWindow, createTailWindow, type LineWindow } from "./line-window.rules.ts";
import { logStart, type LogPosition } from "./log-page.rules.ts";

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
