import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { isArchiveError } from "./json-parts.ts";
import { chunkOfRows, rowsOfChunk } from "./table-rows.ts";

test("rows are read back from a chunk unchanged, with their columns in their order and all digits", () => {
  const rows = ['{"b":1.50,"a":"x"}', "{}", '{"a":[1,{"c":"\\n"}],"b":null}', '{"b":12345678901234567890,"a":""}'];
  expect(rowsOfChunk(chunkOfRows(rows), 0, rows.length)).toEqual(rows);
  expect(chunkOfRows(rows)).toMatchObject({ names: ["b", "a"], rowShapes: [0, 1, 2, 0], rowCount: 4 });
});

test("any objects are read back", () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), { minLength: 1 }),
      (objects) => {
        const rows = objects.map((row) => JSON.stringify(row));
        expect(rowsOfChunk(chunkOfRows(rows), 0, rows.length)).toEqual(rows);
      },
    ),
  );
});

test.each(["[]", "{", '{"a":x}', '{"a":1,"a":2}'])("the row %s is refused", (row) => {
  let caught: unknown;
  try {
    chunkOfRows([row]);
  } catch (error) {
    caught = error;
  }
  expect(isArchiveError(caught)).toBe(true);
});
