import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decodeLogBlock, encodeLogBlock } from "./log-block.ts";
import { createTextFinder } from "./find-text.ts";
import { comparePositions, countOf, indexAfter, messageBytesOf, positionAt } from "./log-columns.ts";
import { anyLines, columnsOf, linesOf, sorted } from "./log-columns.fixture.ts";
import { cutColumns, mergeColumns, weightOf } from "./merge-columns.ts";

describe("columns merged", () => {
  test("hold the lines of all parts in order, however they overlap", () => {
    fc.assert(
      fc.property(anyLines, fc.array(fc.nat(6), { minLength: 150, maxLength: 150 }), (lines, shares) => {
        const parts = Array.from({ length: 7 }, (_, part) => lines.filter((_line, i) => shares[i] === part));
        expect(linesOf(mergeColumns(parts.map(columnsOf)))).toEqual(sorted(lines));
      }),
      { numRuns: 500 },
    );
  });

  test("of parts that follow one another are these parts, in any given order", () => {
    fc.assert(
      fc.property(anyLines, fc.array(fc.nat(150), { maxLength: 5 }), (lines, cuts) => {
        const bounds = [0, ...cuts, lines.length].toSorted((a, b) => a - b);
        const parts = bounds.slice(1).map((to, i) => columnsOf(lines.slice(bounds[i], to)));
        expect(linesOf(mergeColumns(parts.reverse()))).toEqual(lines);
      }),
    );
  });

  test("keep lines of one position, in case two requests got the same id", () => {
    const line = { lineNumber: 1, id: 64, createdUs: 0, sent: null };
    const twice = mergeColumns([columnsOf([{ ...line, message: "a" }]), columnsOf([{ ...line, message: "b" }])]);
    const block = encodeLogBlock(twice, { compressFrom: 0 });
    expect(linesOf(decodeLogBlock(block)).map(({ message }) => message)).toEqual(["a", "b"]);
  });

  test("of nothing are empty", () => {
    expect(countOf(mergeColumns([]))).toBe(0);
    expect(countOf(mergeColumns([columnsOf([])]))).toBe(0);
  });
});

test("columns are cut in order into pieces that reach the weight with their last line, and not before", () => {
  fc.assert(
    fc.property(anyLines, fc.integer({ min: 1, max: 2000 }), (lines, weightMax) => {
      const pieces = cutColumns(columnsOf(lines), weightMax);
      expect(pieces.flatMap(linesOf)).toEqual(lines);
      const weights = pieces.map((piece) => weightOf(countOf(piece), messageBytesOf(piece)));
      expect(weights.slice(0, -1).every((weight) => weight >= weightMax)).toBe(true);
      for (const piece of pieces) {
        const last = linesOf(piece).at(-1)!;
        const without = weightOf(countOf(piece) - 1, messageBytesOf(piece) - Buffer.byteLength(last.message));
        expect(without).toBeLessThan(weightMax);
      }
    }),
  );
});

test("the first line after a position is found, whether a line has that position or not", () => {
  fc.assert(
    fc.property(anyLines, fc.nat(2000), fc.nat(2000), fc.nat(), fc.boolean(), (lines, lineNumber, id, pick, taken) => {
      const place = taken && lines.length > 0 ? lines[pick % lines.length]! : { lineNumber, id };
      const wanted = lines.filter((line) => comparePositions(line, place) <= 0).length;
      expect(indexAfter(columnsOf(lines), place)).toBe(wanted);
    }),
  );
});

describe("a text", () => {
  /** What is left of a message without colors. */
  const shown = (message: string): string =>
    // oxlint-disable-next-line no-control-regex -- these are what a console sends
    message.replaceAll(/\u001b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[^[\]PX^_])?/g, "");
  const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

  test("is found in exactly the messages that contain it, ASCII letters in either case", () => {
    const needle = fc.oneof(
      fc.string({ unit: fc.constantFrom("a", "A", "b", "é", "É", "█", "0", "%"), minLength: 1, maxLength: 3 }),
      fc.constantFrom("Loss", "|", "\u001b[", "É", "ß", "k", "K", "5%"),
    );
    fc.assert(
      fc.property(anyLines, needle, fc.nat(), (lines, text, skip) => {
        const from = lines.length === 0 ? 0 : skip % lines.length;
        const found = createTextFinder(text).find(columnsOf(lines), from);
        const has = (message: string): boolean => lower(message).includes(lower(text));
        const wanted = lines.slice(from).map(({ message }) => has(message) || has(shown(message)));
        expect([...found]).toEqual(wanted.map(Number));
      }),
      { numRuns: 1_000 },
    );
  });

  test("is found where colors are in between", () => {
    const lines = [
      "\u001b[31mLoss\u001b[0m is nan",
      "plain",
      "\u001b]0;loss is\u0007 fine",
      "é\u001b[1m loss\u001b[m is",
    ];
    const columns = columnsOf(lines.map((message, i) => ({ lineNumber: i, id: i, createdUs: 0, sent: null, message })));
    expect([...createTextFinder("loss is").find(columns)]).toEqual([1, 0, 1, 1]);
    expect([...createTextFinder("loss is").find(columns, 1, 3)]).toEqual([0, 1]);
    expect([...createTextFinder("\u001b[31m").find(columns)]).toEqual([1, 0, 0, 0]);
  });

  test("does not begin in one message and end in the next, also when empty ones lie between", () => {
    const lines = ["xab", "", "c", "aabc", "ab"].map((message, i) => ({
      lineNumber: i,
      id: i,
      createdUs: 0,
      sent: null,
      message,
    }));
    expect([...createTextFinder("ABC").find(columnsOf(lines))]).toEqual([0, 0, 0, 1, 0]);
  });
});

test("the position of a line is its number and its id", () => {
  const columns = columnsOf([{ lineNumber: 3, id: 4, createdUs: 0, sent: null, message: "" }]);
  expect(positionAt(columns, 0)).toEqual({ lineNumber: 3, id: 4 });
});
