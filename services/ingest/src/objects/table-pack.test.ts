import { expect, test } from "@jest/globals";
import { packChunk, unpackChunk } from "./table-pack.ts";
import { chunkOf } from "./objects.fixture.ts";

test.each([
  ["few rows, which do not get smaller", 1, 0],
  ["many rows, which do", 100, 1],
])("a chunk of %s is read as it was stored", (_, rows, form) => {
  const stored = packChunk(chunkOf(rows)).rows;
  expect(stored[0]).toBe(form);
  expect(unpackChunk(stored)).toEqual(chunkOf(rows));
});

test("a chunk that is longer than what is unpacked at a time is read as it was stored", () => {
  const long = chunkOf(100, { columns: [Buffer.from(`"${"x".repeat(20_000)}"\n`.repeat(100))] });
  expect(unpackChunk(packChunk(long).rows)).toEqual(long);
});

test("another form is an error", () => {
  expect(() => unpackChunk(Buffer.of(2, 0))).toThrow("form that is not known: 2");
});
