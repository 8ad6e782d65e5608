import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { ExportBeginningSchema, ExportRunsResponseSchema } from "@tidemark/proto/imports/v1/export";
import { turnsDuring } from "@tidemark/testkit";
import { csvExport } from "./csv-export.ts";
import { jsonExport } from "./json-export.ts";

const beginning = create(ExportBeginningSchema, { organization: { id: "o" }, exportedAt: "t" });
const attribute = { path: "p", type: "config", valueJson: Buffer.from('"a, b"'), summaryJson: Buffer.from("{}") };
const parts = [
  create(ExportRunsResponseSchema, {
    part: {
      case: "attributes",
      value: { attributes: Array.from({ length: 5000 }, (_, id) => ({ ...attribute, id })) },
    },
  }),
  create(ExportRunsResponseSchema, { part: { case: "end", value: {} } }),
];

async function* arriving() {
  yield* parts;
}

test.each([
  ["JSON", /"path":"p"/g, () => jsonExport(beginning, arriving())],
  ["CSV", /^attribute,/gm, () => csvExport(beginning, arriving()).pieces],
])("the largest page of an export as %s leaves turns to others", async (_, row, write) => {
  const { result, turns } = await turnsDuring(() => Array.fromAsync(write()));
  expect(Buffer.concat(result).toString().match(row)).toHaveLength(5000);
  expect(turns).toBeGreaterThanOrEqual(2);
});
