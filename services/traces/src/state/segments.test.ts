import { expect, test } from "@jest/globals";
import { newSpanRecord, NONE, readTree } from "@tidemark/codecs/spans";
import { createSpanTable } from "../fold/span-table.rules.ts";
import { rewriteSegments } from "./segments.rules.ts";

test("a large trace is rewritten in the order of pages, in turns", async () => {
  const table = createSpanTable();
  const spans = Array.from({ length: 30_000 }, (_, i) => ({
    idLow: ((i * 7919) % 30_000) + 1,
    parentLow: i % 3,
    startUs: (i * 31) % 1000,
  }));
  const record = { ...newSpanRecord(), kind: 1, status: 2 };
  spans.forEach((span, i) => table.fold({ ...record, ...span, parentSeq: span.parentLow === 0 ? NONE : 0 }, 1, i));
  let turns = 0;
  const segments = await rewriteSegments(
    table,
    () => new Uint8Array(),
    async () => {
      turns += 1;
    },
  );
  const found: typeof spans = [];
  for (const { tree } of segments) {
    readTree(tree, ({ idLow, parentLow, startUs }) => void found.push({ idLow, parentLow, startUs }));
  }
  expect(found).toEqual(
    spans.toSorted((a, b) => a.parentLow - b.parentLow || a.startUs - b.startUs || a.idLow - b.idLow),
  );
  // In addition to the turns of the segments.
  expect(turns).toBeGreaterThan(30_000 / 512 + 6);
});
