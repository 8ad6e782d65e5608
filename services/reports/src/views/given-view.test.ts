import { describe, expect, test } from "@jest/globals";
import { readGivenView, writeEnvelope } from "./envelope.rules.ts";

const utf8 = new TextEncoder();
const read = (view: unknown) => readGivenView(utf8.encode(typeof view === "string" ? view : JSON.stringify(view)));
const exported = writeEnvelope({ name: "n", project: null, payload: '{"sections":[]}' }, "2026-01-02T03:04:05Z");

test.each<[string, unknown, string]>([
  ["an exported view", exported, '{"sections":[]}'],
  ["an object with a payload", { id: "x", payload: { sections: [1.5] } }, '{"sections":[1.5]}'],
  ["a payload", { sections: [] }, '{"sections":[]}'],
  ["a payload whose member `payload` is not an object", { payload: 1 }, '{"payload":1}'],
  ["the empty payload", {}, "{}"],
])("the payload of %s is read", async (_, view, payload) => {
  expect(await read(view)).toMatchObject({ payload, warnings: [] });
});

test("it is sanitized, and warnings name what was removed", async () => {
  expect(await read({ payload: { apiKey: "x", kept: 1 } })).toEqual({
    payload: '{"kept":1}',
    warnings: [expect.stringContaining("$.apiKey")],
  });
});

describe("a view is refused", () => {
  test.each<[string, unknown, RegExp]>([
    ["that is not an object", "[]", /view must be an object/],
    ["of another kind", { ...(JSON.parse(exported) as object), kind: "x" }, /view.kind must be/],
    ["without its kind", { ...(JSON.parse(exported) as object), kind: undefined }, /view.kind must be/],
    ["that was changed", exported.replace('"sections"', '"section"'), /not the checksum/],
    ["with a key that reaches prototypes", { sections: [{ prototype: 1 }] }, /the key prototype is not allowed/],
    ["that is too large", { a: "x".repeat(65_536) }, /at most 65536 bytes/],
    ["that is nested too deeply", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`, /nested 64 levels/],
  ])("%s", async (_, view, fault) => {
    await expect(read(view)).rejects.toMatchObject({
      reason: "bad_request",
      field: "view",
      message: expect.stringMatching(fault),
    });
  });
});
