import { expect, test } from "@jest/globals";
import { piecesOf } from "../disk-tree.fixture.ts";
import { tfRecords } from "../tensorboard/event-file.ts";
import { createWarnings } from "../warnings.ts";
import { createByteSource } from "./byte-source.ts";

const bytes = Buffer.from(Array.from({ length: 3000 }, (_, i) => i % 256));

test("lengths are taken across pieces, and the last one may be shorter", async () => {
  const source = createByteSource(piecesOf(bytes));
  expect(await source.take(5)).toEqual(bytes.subarray(0, 5));
  expect(await source.skip(1000)).toBe(1000);
  expect(await source.take(1500)).toEqual(bytes.subarray(1005, 2505));
  expect(await source.take(1000)).toEqual(bytes.subarray(2505));
  expect(await source.take(1)).toHaveLength(0);
  expect(await source.skip(1)).toBe(0);
});

test("a reader that stops at damage ends the pieces", async () => {
  let ended = false;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      yield* piecesOf(bytes);
    } finally {
      ended = true;
    }
  }
  for await (const record of tfRecords(pieces(), createWarnings(), "file")) expect(record).toBeUndefined();
  expect(ended).toBe(true);
});
