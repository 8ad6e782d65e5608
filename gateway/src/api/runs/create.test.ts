import { describe, expect, test } from "@jest/globals";
import { parseJsonObject } from "@tidemark/documents";
import { inputOf } from "../route-input.fixture.ts";
import { decodeCreateRun } from "./create.ts";

const decode = (body: Readonly<Record<string, unknown>>) => {
  const { configJson, metadataJson, ...rest } = decodeCreateRun(inputOf({ body }));
  return { ...rest, config: new TextDecoder().decode(configJson), metadata: new TextDecoder().decode(metadataJson) };
};
const nothing = { mode: "create", tags: [], config: "{}", metadata: "{}" };
const id = "5b0c0000-0000-4000-8000-00000000000a";

describe("POST /runs reads", () => {
  test.each([
    ["an empty body", {}, nothing],
    [
      "nulls as absent",
      { id: null, mode: null, project: null, name: null, config: null, tags: null, metadata: null },
      nothing,
    ],
    ["blank project, name and mode as absent", { project: " ", name: "", mode: "\t" }, nothing],
    ["unknown fields not at all", { colour: "red", status: 5 }, nothing],
    ["an id in upper case as lower case", { id: id.toUpperCase() }, { ...nothing, id }],
    [
      "texts trimmed",
      { project: " p ", name: " n ", tags: [" a ", "a"], mode: " auto " },
      { ...nothing, project: "p", name: "n", tags: ["a", "a"], mode: "auto" },
    ],
    ["texts of exactly 512 bytes", { name: "é".repeat(256) }, { ...nothing, name: "é".repeat(256) }],
    [
      "documents",
      { config: { b: [1.5, null], a: { c: "x" } }, metadata: { notes: "n" } },
      { ...nothing, config: '{"b":[1.5,null],"a":{"c":"x"}}', metadata: '{"notes":"n"}' },
    ],
    [
      "text in documents that cannot be stored, replaced",
      { metadata: { cwd: "/a\udc80b\u0000" } },
      { ...nothing, metadata: '{"cwd":"/a\u{FFFD}b\u{FFFD}"}' },
    ],
  ])("%s", (_what, body, expected) => {
    expect(decode(body)).toEqual(expected);
  });

  test("integers beyond 2^53 digit by digit", () => {
    const body = parseJsonObject(Buffer.from('{"config":{"seed":12345678901234567890,"lr":0.1,"big":1e300}}'), true);
    expect(decode(body).config).toBe('{"seed":12345678901234567890,"lr":0.1,"big":1e+300}');
  });
});

describe("POST /runs refuses", () => {
  test.each([
    ["an unknown mode", { mode: "again" }, "invalid_run_mode", "mode"],
    ["a mode in capitals", { mode: "Create" }, "invalid_run_mode", "mode"],
    ["a mode that is not a text", { mode: 1 }, "bad_request", "mode"],
    ["an empty id", { id: "" }, "invalid_run_id", "id"],
    ["a blank id", { id: " " }, "invalid_run_id", "id"],
    ["an id as a URN", { id: `urn:uuid:${id}` }, "invalid_run_id", "id"],
    ["an id with white space", { id: ` ${id}` }, "invalid_run_id", "id"],
    ["an id that is not a text", { id: 5 }, "bad_request", "id"],
    ["a project that is not a text", { project: {} }, "bad_request", "project"],
    ["a name with half a surrogate pair", { name: "a\ud800" }, "bad_request", "name"],
    ["a name of 257 characters in 514 bytes", { name: "é".repeat(257) }, "bad_request", "name"],
    ["an empty tag", { tags: ["a", " "] }, "bad_request", "tags"],
    ["a tag that is null", { tags: [null] }, "bad_request", "tags"],
    ["a config that is a text", { config: "{}" }, "bad_request", "config"],
    ["metadata that are a number", { metadata: 1 }, "bad_request", "metadata"],
    ["a number beyond double range", { config: { a: [Number.POSITIVE_INFINITY] } }, "bad_request", "config"],
    ["a key with NUL", { metadata: { "a\u0000": 1 } }, "bad_request", "metadata"],
    ["mode before id", { mode: "x", id: "x", tags: 1 }, "invalid_run_mode", "mode"],
    ["id before the rest", { id: "x", tags: 1, project: 1 }, "invalid_run_id", "id"],
  ])("%s", (_what, body, reason, field) => {
    expect(() => decode(body)).toThrow(expect.objectContaining({ reason, field }));
  });
});
