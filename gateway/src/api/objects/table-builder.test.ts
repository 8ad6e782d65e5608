import { rowsOfChunk } from "@tidemark/archive";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { TableChunkSchema } from "@tidemark/proto/ingest/v1/objects";
import fc from "fast-check";
import { parseJsonObject } from "@tidemark/documents";
import { buildChunks } from "./chunks.fixture.ts";

const chunksOf = (rows: readonly unknown[]) => buildChunks(rows).map((chunk) => create(TableChunkSchema, chunk));
const readBack = (rows: readonly unknown[]): string[] =>
  chunksOf(rows).flatMap((chunk) => rowsOfChunk(chunk, 0, chunk.rowCount));
const rowsOfJson = (json: string): unknown[] =>
  parseJsonObject(Buffer.from(`{"rows":${json}}`), true)["rows"] as unknown[];

test("rows are read back unchanged, with any columns in any order", () => {
  const key = fc.oneof(fc.constantFrom("a", "b", "1", ""), fc.string({ unit: "grapheme", maxLength: 5 }));
  const cell = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string(),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const row = fc.dictionary(
    key.filter((name) => name !== "__proto__" && !name.includes("\0")),
    cell,
    { maxKeys: 6, noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(row, { maxLength: 220 }), (rows) => {
      const storable = JSON.parse(JSON.stringify(rows).replaceAll("\\u0000", "\\ufffd")) as object[];
      fc.pre(
        storable.every(
          (one) => JSON.stringify(one).isWellFormed() && Object.keys(one).every((name) => !name.includes("\uFFFD")),
        ),
      );
      expect(readBack(storable).map((text) => JSON.parse(text) as unknown)).toEqual(storable);
      expect(readBack(storable)).toEqual(storable.map((one) => JSON.stringify(one)));
    }),
    { numRuns: 60 },
  );
});

test("chunks have a hundred rows, names once, and shapes where rows differ", () => {
  const rows = Array.from({ length: 150 }, (_, i) => (i % 2 === 0 ? { a: i, b: "x" } : { b: null }));
  const [first, second] = chunksOf(rows);
  expect(first).toMatchObject({ names: ["a", "b"], shapes: [{ names: [0, 1] }, { names: [1] }], rowCount: 100 });
  expect(first!.rowShapes.slice(0, 3)).toEqual([0, 1, 0]);
  expect(Buffer.from(second!.columns[0]!).toString()).toBe(
    Array.from({ length: 25 }, (_, i) => `${100 + 2 * i}\n`).join(""),
  );
  expect(chunksOf(Array.from({ length: 3 }, () => ({ a: 1 })))[0]).toMatchObject({ rowShapes: [] });
  expect(buildChunks([])).toEqual([]);
});

test("some rows of a chunk are the right ones", () => {
  const [chunk] = chunksOf(Array.from({ length: 10 }, (_, i) => (i % 3 === 0 ? { a: i } : { b: i, a: -i })));
  expect(rowsOfChunk(chunk!, 4, 7)).toEqual(['{"b":4,"a":-4}', '{"b":5,"a":-5}', '{"a":6}']);
  expect(rowsOfChunk(chunk!, 9, 100)).toEqual(['{"a":9}']);
  expect(rowsOfChunk(chunk!, 10, 20)).toEqual([]);
  expect(rowsOfChunk(chunk!, 0, 0)).toEqual([]);
});

test.each([
  ["a seed beyond 2^53", '{"a":12345678901234567890}'],
  ["one inside a cell", '{"a":{"b":[98765432109876543210]}}'],
  ["a text with quotes, a backslash and a line feed", '{"a":"\\"\\\\\\n"}'],
  ["a long text", `{"a":"${"x".repeat(5000)}"}`],
])("%s keeps its form", (_, json) => {
  expect(readBack(rowsOfJson(`[${json}]`))).toEqual([json]);
});

describe("a row is refused", () => {
  const columns = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, 1]));
  const wide = (bytes: number, character: string) => ({
    a: character.repeat((bytes - '{"a":""}'.length) / Buffer.byteLength(character)),
  });

  test.each([
    ["that is a list", [1], "must be an object"],
    ["that is null", null, "must be an object"],
    ["of 129 columns", columns(129), "must have at most 128 columns"],
    ["of 16,385 bytes", wide(16_385, "x"), "must have at most 16384 bytes"],
    ["of 16,386 bytes in few characters", wide(16_386, "é"), "must have at most 16384 bytes"],
    ["with NUL in a key", { "a\0": 1 }, "has a key with NUL or a lone surrogate"],
    ["with a lone surrogate in a key", { "\ud800": 1 }, "has a key with NUL or a lone surrogate"],
    ["with a number beyond double range", { a: Infinity }, "it contains a number out of range"],
  ])("%s", (_, row, text) => {
    expect(() => buildChunks([{}, row])).toThrow(
      expect.objectContaining({ reason: "bad_request", field: "rows", message: `rows[1]: ${text}` }),
    );
  });

  test("and not one that just keeps the limits", () => {
    const rows = [columns(128), wide(16_384, "x"), wide(16_384, "é")];
    expect(readBack(rows)).toEqual(rows.map((row) => JSON.stringify(row)));
  });
});
