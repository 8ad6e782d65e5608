import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { ListTableRowsResponseSchema } from "@tidemark/proto/ingest/v1/objects";
import { turnsDuring } from "@tidemark/testkit";
import { buildChunks } from "./chunks.fixture.ts";
import { encodeListTableRows } from "./objects.ts";

test("a long page of a table leaves turns to others while it is written", async () => {
  // Rows that share no columns take the longest.
  const row = (n: number) => Object.fromEntries(Array.from({ length: 128 }, (_, column) => [`${n} ${column}`, column]));
  const rows = Array.from({ length: 1000 }, (_, n) => row(n));
  const response = create(ListTableRowsResponseSchema, { chunks: buildChunks(rows), createdAt: "t" });
  const request = { objectId: 1, limit: 1000, offset: 0, queryFault: undefined };
  const { result, turns } = await turnsDuring(() => encodeListTableRows(response, request));
  const written = (result.body as { rows: { text: string } }).rows.text;
  expect(JSON.parse(written)).toEqual(rows.map((one, n) => ({ row_index: n, row: one, created_at: "t" })));
  expect(turns).toBeGreaterThanOrEqual(3);
});
