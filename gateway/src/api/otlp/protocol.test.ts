import { expect, test } from "@jest/globals";
import { turnsDuring } from "@tidemark/testkit";
import { otlpProtocol, type OtlpBody } from "./protocol.ts";

const JSON_TYPE = "application/json";
const PROTOBUF = "application/x-protobuf";

/** A length-delimited field of protobuf. */
function field(number: number, content: Uint8Array): Uint8Array {
  const size = [];
  for (let left = content.length; ; left >>>= 7) {
    size.push(left > 127 ? (left & 127) | 128 : left);
    if (left <= 127) break;
  }
  return Buffer.concat([Uint8Array.of((number << 3) | 2, ...size), content]);
}

const attributes = Array.from({ length: 50 }, (_, n) => ({ key: `key ${n}`, value: { intValue: "1" } }));
const spans = Array.from({ length: 2000 }, () => ({ name: "s", attributes }));
const empty = Buffer.alloc(2 * 4096, Buffer.of((2 << 3) | 2, 0));

test.each([
  ["JSON", JSON_TYPE, Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })), 2000],
  ["protobuf", PROTOBUF, Buffer.concat([field(1, field(2, empty)), Buffer.alloc(3_000_000, Buffer.of(10, 0))]), 4096],
])("a large body in %s leaves turns to others while it is read", async (_encoding, mediaType, bytes, count) => {
  const { result, turns } = await turnsDuring(() => otlpProtocol.parse(bytes, mediaType));
  const { resources } = result as OtlpBody;
  expect(resources.map(({ spans: read }) => read.length)).toEqual([count]);
  expect(turns).toBeGreaterThan(5);
});

test("a body of more objects than exporters send is refused", async () => {
  const bytes = Buffer.from(`{"resourceSpans":[${"{},".repeat(250_000)}{}]}`);
  await expect(otlpProtocol.parse(bytes, JSON_TYPE)).rejects.toMatchObject({ reason: "bad_request" });
});

test("integers that are numbers of JSON keep their digits, times among them", async () => {
  const attribute = '{"key":"seed","value":{"intValue":9007199254740993}}';
  const span = `{"startTimeUnixNano":1767225600123456789,"endTimeUnixNano":1767225600123456790,"attributes":[${attribute}]}`;
  const bytes = Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`);
  const { resources } = (await otlpProtocol.parse(bytes, JSON_TYPE)) as OtlpBody;
  expect(resources[0]!.spans[0]).toMatchObject({
    startNs: 1_767_225_600_123_456_789n,
    endNs: 1_767_225_600_123_456_790n,
    attributes: new Map([["seed", { json: "9007199254740993" }]]),
  });
});
