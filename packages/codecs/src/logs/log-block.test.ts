import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decodeLogBlock, encodeLogBlock } from "./log-block.ts";
import { columnsOfRequest, countOf, sliceColumns } from "./log-columns.ts";
import { anyLines, anyMessage, columnsOf, linesOf, plainBlockOf } from "./log-columns.fixture.ts";

const always = { compressFrom: 0 };
const never = { compressFrom: Infinity };
const compression = fc.constantFrom(always, never);

describe("a block", () => {
  test("gives every line back: numbers, times, order and texts", () => {
    fc.assert(
      fc.property(anyLines, compression, (lines, options) => {
        const block = encodeLogBlock(columnsOf(lines), options);
        expect(block[0]).toBe(1);
        expect(linesOf(decodeLogBlock(block))).toEqual(lines);
      }),
      { numRuns: 1_000 },
    );
  });

  test("of a part of other columns holds that part", () => {
    fc.assert(
      fc.property(anyLines, fc.nat(), fc.nat(), (lines, a, b) => {
        const [from, to] = [a % (lines.length + 1), b % (lines.length + 1)].sort((x, y) => x - y) as [number, number];
        const block = encodeLogBlock(sliceColumns(columnsOf(lines), from, to), always);
        expect(linesOf(decodeLogBlock(block))).toEqual(lines.slice(from, to));
      }),
    );
  });

  test("can be read wherever it lies in a larger buffer", () => {
    const lines = linesOf(columnsOf([{ lineNumber: 1, id: 2, createdUs: 3, sent: null, message: "x" }]));
    const block = encodeLogBlock(columnsOf(lines), never);
    const padded = Buffer.concat([Buffer.alloc(3), block]).subarray(3);
    expect(linesOf(decodeLogBlock(padded))).toEqual(lines);
  });

  test("leaves out what is stored next to it, and reading adds that to every line", () => {
    const lines = [
      { lineNumber: 5, message: "b", sent: { seconds: 10, micros: 7 } },
      { lineNumber: 4, message: "a", sent: null },
      { lineNumber: 5, message: "c", sent: null },
    ];
    const block = encodeLogBlock(columnsOfRequest(lines), never);
    expect(linesOf(decodeLogBlock(block, { id: 640, createdUs: 99 }))).toEqual([
      { lineNumber: 4, id: 641, createdUs: 99, sent: null, message: "a" },
      { lineNumber: 5, id: 640, createdUs: 99, sent: { seconds: 10, micros: 7 }, message: "b" },
      { lineNumber: 5, id: 642, createdUs: 99, sent: null, message: "c" },
    ]);
  });

  test("of a request's lines sorts them by number, and those of one number by their index", () => {
    const anyRequest = fc.array(fc.record({ lineNumber: fc.nat(20), message: anyMessage, sent: fc.constant(null) }), {
      maxLength: 50,
    });
    fc.assert(
      fc.property(anyRequest, (lines) => {
        const wanted = lines
          .map((line, id) => ({ ...line, id, createdUs: 0 }))
          .toSorted((a, b) => a.lineNumber - b.lineNumber || a.id - b.id);
        expect(linesOf(columnsOfRequest(lines))).toEqual(wanted);
      }),
    );
  });

  test("of a thousand lines that training prints takes little more than their compressed text", () => {
    // Numbers, ids and times of arrival repeat from line to line; only client times and lengths do not.
    const lines = Array.from({ length: 1000 }, (_, i) => ({
      lineNumber: i + 1,
      id: Math.floor(i / 50) * 8192 + (i % 50),
      createdUs: 1_767_323_045_000_000 + Math.floor(i / 50) * 5_000_000,
      sent: null,
      message: "same",
    }));
    expect(encodeLogBlock(columnsOf(lines), always).length).toBeLessThan(250);
  });

  test("is stored as it is where compression would make it larger", () => {
    const block = encodeLogBlock(columnsOf([{ lineNumber: 0, id: 0, createdUs: 0, sent: null, message: "x" }]), always);
    expect(block[1]).toBe(0);
  });

  test("of no lines is one too", () => {
    expect(countOf(decodeLogBlock(encodeLogBlock(columnsOf([]), always)))).toBe(0);
  });
});

describe("a plain block, as SQL writes it,", () => {
  test("is read as what it holds, times before 1970 included", () => {
    fc.assert(
      fc.property(anyLines, (lines) => {
        expect(linesOf(decodeLogBlock(plainBlockOf(lines)))).toEqual(lines);
      }),
    );
  });

  const plain = plainBlockOf([{ lineNumber: 1, id: 2, createdUs: 3, sent: null, message: "abc" }]);
  const later = plainBlockOf([{ lineNumber: 1, id: 3, createdUs: 3, sent: null, message: "" }]);
  test.each([
    ["its last byte missing", plain.subarray(0, -1), "cut short"],
    ["half a record", plain.subarray(0, 20), "cut short"],
    ["a byte too many", Buffer.concat([plain, Buffer.alloc(1)]), "cut short"],
    ["a negative number", Buffer.concat([plain.subarray(0, 1), Buffer.alloc(8, 0xff), plain.subarray(9)]), "range"],
    ["a line before the one it follows", Buffer.concat([later, plain.subarray(1)]), "not in order"],
  ])("with %s is refused by name", (_, block, text) => {
    expect(() => decodeLogBlock(block)).toThrow(
      expect.objectContaining({ name: "CodecError", message: expect.stringContaining(text) }),
    );
  });
});
