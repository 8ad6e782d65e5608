import { expect, test } from "@jest/globals";
import { parseJsonObject } from "@tidemark/documents";
import { turnsDuring } from "@tidemark/testkit";
import { inputOf } from "../route-input.fixture.ts";
import { decodeCreateObject } from "./create.ts";
import { decodeListTableRows } from "./objects.ts";

const decode = (json: string) => decodeCreateObject(inputOf({ body: parseJsonObject(Buffer.from(json), true) }));
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

test("a table is read with its documents to the letter", async () => {
  const request = await decode(
    '{"key":" k ","kind":"table","step":2.5,"metadata":{"b":12345678901234567890,"a":1},"rows":[{"x":1}],"more":1}',
  );
  expect(request).toMatchObject({ key: "k", kind: "table", step: 2.5, artifactId: "" });
  expect(request.bodyFault).toBeUndefined();
  expect(text(request.metadataJson)).toBe('{"b":12345678901234567890,"a":1}');
  expect(text(request.summaryJson)).toBe("{}");
  expect(text(request.valueJson)).toBe('{"kind":"table","metadata":{"b":12345678901234567890,"a":1}}');
  expect(request.chunks).toHaveLength(1);
});

test.each([
  [
    "that were posted go before those of the value",
    '"metadata":{"mine":1},"value":{"metadata":{"its":1}}',
    '{"mine":1}',
  ],
  ["of the value are those of the object", '"value":{"metadata":{"its":1}}', '{"its":1}'],
  ["of a value that has none are empty", '"value":[1]', "{}"],
])("metadata %s", async (_, fields, wanted) => {
  const { metadataJson } = await decode(`{"key":"k","kind":"table",${fields}}`);
  expect(text(metadataJson)).toBe(wanted);
});

test("null fields count as absent, and media have no value of their own", async () => {
  const id = "0c9b8a1e-1111-4222-8333-444455556666";
  const nulls = '"step":null,"metadata":null,"summary":null,"rows":null,"value":"x"';
  const request = await decode(`{"key":"k","kind":"video","artifact_id":"${id.toUpperCase()}",${nulls}}`);
  expect(request).toMatchObject({ artifactId: id, chunks: [] });
  expect(request.valueJson).toHaveLength(0);
  expect(request.bodyFault).toBeUndefined();
});

test("the largest bodies leave turns to others while they are read", async () => {
  const cell = Array.from({ length: 40 }, (_, i) => `"c${i}":[${Array(90).fill("1").join(",")}]`).join(",");
  const rows = Array(500).fill(`{${cell}}`).join(",");
  const { result, turns } = await turnsDuring(() => decode(`{"key":"k","kind":"table","rows":[${rows}]}`));
  expect(result.chunks).toHaveLength(5);
  expect(turns).toBeGreaterThanOrEqual(3);
  const refused = await decode(`{"key":"k","kind":"table","rows":[{},{"a":[${Array(20_000).fill("1").join(",")}]}]}`);
  expect(refused.bodyFault?.text).toBe("rows[1]: must have at most 16384 bytes");
});

test.each([
  ["18", 18],
  ["attr:18", 18],
  ["9007199254740991", 2 ** 53 - 1],
])("the path %s names an object", (path, wanted) => {
  expect(decodeListTableRows(inputOf({ params: { object_id: path } }))).toMatchObject({ objectId: wanted });
});

test.each(["", "x", "-1", "1.5", "attr:", "9007199254740992", "18 "])("the path %j names none", (path) => {
  expect(() => decodeListTableRows(inputOf({ params: { object_id: path } }))).toThrow(
    expect.objectContaining({ reason: "not_found" }),
  );
});
