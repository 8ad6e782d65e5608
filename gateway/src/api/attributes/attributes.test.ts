import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { AppendAttributesResponseSchema, ListAttributesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { parseJsonObject } from "@tidemark/documents";
import { turnsDuring } from "@tidemark/testkit";
import {
  decodeAppendAttributes,
  decodeListAttributes,
  encodeAppendAttributes,
  encodeListAttributes,
} from "./attributes.ts";
import { writeJson } from "../../http/json.ts";
import { inputOf } from "../route-input.fixture.ts";

const runId = "0c9b8a1e-1111-4222-8333-444455556666";
const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

/** Decodes a body that arrives as text, as the gateway parses it. */
function decode(json: string) {
  return decodeAppendAttributes(inputOf({ body: parseJsonObject(Buffer.from(json), true) }));
}
const valueOf = async (json: string) =>
  text((await decode(`{"path":"p","type":"config","value":${json}}`)).attributes![0]!.valueJson);
const faultOf = async (body: object) => (await decode(JSON.stringify(body))).bodyFault;

const item = { path: "a", type: "config", value: 1 };

describe("POST /api/runs/{run_id}/attributes", () => {
  test("takes a list of items", async () => {
    const attributes = [
      { path: " config/lr ", type: "config", value: 0.001, step: null, timestamp: null, summary: null },
      { ...item, type: "tag", step: 2.5, timestamp: "2026-01-01T00:00:00.25Z", summary: { group: true } },
    ];
    const request = await decode(JSON.stringify({ attributes }));
    expect(request).toMatchObject({
      runId,
      attributes: [
        { path: "config/lr", type: "config", loggedAt: "" },
        { path: "a", type: "tag", step: 2.5, loggedAt: "2026-01-01T00:00:00.25Z" },
      ],
    });
    expect(request.bodyFault).toBeUndefined();
    expect(request.attributes![0]!.step).toBeUndefined();
    expect(request.attributes!.map((row) => text(row.summaryJson))).toEqual(["{}", '{"group":true}']);
  });

  test("takes one item's fields at the top level, where artifact_id means nothing", async () => {
    const request = await decode(JSON.stringify({ ...item, artifact_id: "x" }));
    expect(request.attributes).toHaveLength(1);
    expect(request.bodyFault).toBeUndefined();
  });

  test("takes the artifact of an item of a list", async () => {
    const request = await decode(JSON.stringify({ attributes: [{ ...item, artifact_id: runId.toUpperCase() }, item] }));
    expect(request.attributes!.map(({ artifactId }) => artifactId)).toEqual([runId, undefined]);
  });

  test("takes null as a value inside a list", async () => {
    const request = await decode('{"attributes":[{"path":"a","type":"config","value":null}]}');
    expect(text(request.attributes![0]!.valueJson)).toBe("null");
  });

  test.each(["config", "float_series", "string_series", "file", "file_series", "tag"])(
    "knows the type %s",
    async (type) => {
      expect(await faultOf({ ...item, type })).toBeUndefined();
    },
  );

  test.each([
    ["a falsy value", "false", "false"],
    ["the empty text", '""', '""'],
    ["nothing but white space", '" "', '" "'],
  ])("keeps as value %s", async (_, json, wanted) => {
    expect(await valueOf(json)).toBe(wanted);
  });

  test.each([
    ["no value", { path: "a", type: "config" }, "value is required", "value"],
    ["null as value at the top level", { ...item, value: null }, "value is required", "value"],
    ["no list", { attributes: item }, "attributes must be a list", "attributes"],
    ["an item that is not an object", { attributes: [item, []] }, "attributes[1]: must be an object", "attributes"],
    [
      "an item without a value",
      { attributes: [{ path: "a", type: "tag" }] },
      "attributes[0]: value is required",
      "attributes",
    ],
    [
      "an invalid artifact id",
      { attributes: [{ ...item, artifact_id: "x" }] },
      "attributes[0]: artifact_id must be a UUID",
      "attributes",
    ],
  ])("with %s is sent on as a fault", async (_, body, message, field) => {
    expect(await faultOf(body)).toEqual({ text: message, field });
  });

  test.each(["text", "", 1, null, "Config"])("with the type %j is sent on as a fault", async (type) => {
    expect(await faultOf({ ...item, type })).toMatchObject({
      field: "type",
      text: expect.stringContaining("must be one of"),
    });
  });

  test.each(["table", "image", "video", "audio"])("with the type %s is told to use objects", async (type) => {
    expect(await faultOf({ ...item, type })).toMatchObject({ field: "type", text: expect.stringContaining("objects") });
  });

  test("leaves turns to others while the largest bodies are read", async () => {
    const many = Array(20_000).fill('{"path":"a","type":"config","value":1}').join(",");
    const list = await turnsDuring(() => decode(`{"attributes":[${many}]}`));
    expect(list.result.attributes).toHaveLength(20_000);
    const numbers = `[${Array(300_000).fill("1e20").join(",")}]`;
    const one = await turnsDuring(() =>
      decode(`{"path":"a","type":"config","value":{"b":${numbers}},"summary":{"s":${numbers}}}`),
    );
    const written = `[${Array(300_000).fill("100000000000000000000").join(",")}]`;
    const [{ valueJson, summaryJson }] = one.result.attributes as [{ valueJson: Uint8Array; summaryJson: Uint8Array }];
    expect([text(valueJson) === `{"b":${written}}`, text(summaryJson) === `{"s":${written}}`]).toEqual([true, true]);
    for (const { turns } of [list, one]) expect(turns).toBeGreaterThanOrEqual(3);
  });

  test("of a few items takes no time", async () => {
    const { turns } = await turnsDuring(() => decode(JSON.stringify({ attributes: [item, item] })));
    // The system may take the processor away for as long as a turn.
    expect(turns).toBeLessThan(2);
  });

  test("with a number beyond a double is sent on as a fault", async () => {
    expect((await decode('{"path":"a","type":"config","value":[1e999]}')).bodyFault).toMatchObject({ field: "value" });
  });
});

describe("a histogram", () => {
  const fault = async (value: unknown) => (await faultOf({ path: "h", type: "histogram_series", value }))?.text;

  test.each([
    ["as many bins as counts", { bins: [0, 1], counts: [3, 4] }],
    ["one bin more", { bins: [0, 1, 2], counts: [3.5, 0] }],
    [
      "1,024 counts",
      { bins: Array.from({ length: 1025 }, (_, i) => i), counts: Array.from({ length: 1024 }, () => 1) },
    ],
    ["metadata", { bins: [0], counts: [1], metadata: { a: 1 } }],
    ["other fields", { bins: [0], counts: [1], note: "x" }],
  ])("with %s is taken", async (_, value) => {
    expect(await fault(value)).toBeUndefined();
  });

  test("with numbers beyond 2^53 keeps their digits", async () => {
    const request = await decode(
      '{"path":"h","type":"histogram_series","value":{"bins":[12345678901234567890],"counts":[1]}}',
    );
    expect(text(request.attributes![0]!.valueJson)).toBe('{"bins":[12345678901234567890],"counts":[1]}');
  });

  test.each([
    ["that is not an object", [1, 2], "value of a histogram must be an object"],
    ["without bins", { counts: [1] }, "bins must be a list of numbers"],
    ["without counts", { bins: [1] }, "counts must be a list of numbers"],
    ["with empty lists", { bins: [], counts: [] }, "bins must be a list of numbers"],
    ["with texts in it", { bins: ["0"], counts: [1] }, "bins must hold finite numbers only"],
    ["with a null count", { bins: [0], counts: [null] }, "counts must hold finite numbers only"],
    ["with a negative count", { bins: [0], counts: [-1] }, "counts must not be negative"],
    ["with two bins more", { bins: [0, 1, 2], counts: [1] }, "bins must have as many items as counts, or one more"],
    ["with one bin less", { bins: [0], counts: [1, 2] }, "bins must have as many items as counts, or one more"],
    [
      "with 1,025 counts",
      { bins: Array.from({ length: 1025 }, () => 0), counts: Array.from({ length: 1025 }, () => 0) },
      "counts must have at most 1024 items",
    ],
    ["with metadata that is not an object", { bins: [0], counts: [1], metadata: 1 }, "metadata must be an object"],
    [
      "with metadata above 16 KiB",
      { bins: [0], counts: [1], metadata: { a: "x".repeat(16_384) } },
      "metadata must have at most 16384 bytes",
    ],
    ["above 64 KiB", { bins: [0], counts: [1], note: "x".repeat(65_536) }, "value must have at most 65536 bytes"],
  ])("%s is sent on as a fault", async (_, value, message) => {
    expect(await fault(value)).toBe(message);
  });
});

describe("GET /api/runs/{run_id}/attributes", () => {
  const first = { runId, type: "", pathPrefix: "", limit: 1000, offset: 0 };
  test.each([
    ["nothing", {}, first],
    ["filters", { type: "tag", path_prefix: "sys/ " }, { ...first, type: "tag", pathPrefix: "sys/ " }],
    ["a page", { limit: "5000", offset: "20" }, { ...first, limit: 5000, offset: 20 }],
  ])("with %s is read", (_, query, wanted) => {
    expect(decodeListAttributes(inputOf({ query }))).toEqual(wanted);
  });

  test.each([
    ["a limit of 5001", { limit: "5001" }, "limit"],
    ["a negative offset", { offset: "-1" }, "offset"],
  ])("with %s is sent on as a fault", (_, query, field) => {
    expect(decodeListAttributes(inputOf({ query }))).toEqual({
      runId,
      queryFault: { text: expect.any(String), field },
    });
  });
});

test("rows are written with their documents to the letter", async () => {
  const row = {
    id: 17,
    orgId: "o",
    runId,
    path: "config/seed",
    type: "config",
    loggedAt: "2026-01-01T00:00:00Z",
    valueJson: Buffer.from("12345678901234567890123"),
    summaryJson: Buffer.from('{"a":1}'),
    createdAt: "2026-01-01T00:00:01Z",
  };
  const wanted = `{"attributes":[{"id":17,"org_id":"o","run_id":"${runId}","path":"config/seed","type":"config","step":null,"logged_at":"2026-01-01T00:00:00Z","value":12345678901234567890123,"summary":{"a":1},"artifact_id":null,"created_at":"2026-01-01T00:00:01Z"}]}`;
  const stored = await encodeAppendAttributes(create(AppendAttributesResponseSchema, { attributes: [row] }));
  const listed = await encodeListAttributes(create(ListAttributesResponseSchema, { attributes: [row] }));
  expect([writeJson(stored.body), writeJson(listed.body)]).toEqual([wanted, wanted]);
});
