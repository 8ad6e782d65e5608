import { describe, expect, test } from "@jest/globals";
import { fingerprintOf, readDocument } from "@tidemark/documents";
import { comparedCreate } from "./create-run.rules.ts";
import { runNameWords } from "./run-name.rules.ts";

const document = (text: string) => readDocument(new TextEncoder().encode(text), "x");

describe("the fingerprint of a create request", () => {
  const request = {
    id: "5b0c0000-0000-4000-8000-000000000001",
    name: "n",
    config: document('{"a":1,"b":{"c":2,"d":3}}'),
    tags: ["t", "u"],
    metadata: document("{}"),
  };
  const hex = (changed: Partial<Parameters<typeof comparedCreate>[0]>) =>
    Buffer.from(fingerprintOf(comparedCreate({ ...request, ...changed }))).toString("hex");

  test("has 32 bytes and is the same for the same request in other words", () => {
    expect(hex({})).toMatch(/^[0-9a-f]{64}$/);
    expect(hex({ config: document('{"b":{"d":3.0,"c":2},"a":1e0}') })).toBe(hex({}));
  });

  test.each([
    ["id", { id: "5b0c0000-0000-4000-8000-000000000002" }],
    ["name", { name: "m" }],
    ["name left out", { name: null }],
    ["name that says null", { name: "null" }],
    ["number as text", { config: document('{"a":"1","b":{"c":2,"d":3}}') }],
    ["tags joined", { tags: ["t,u"] }],
    ["metadata", { metadata: document('{"a":1}') }],
    ["config and metadata exchanged", { config: request.metadata, metadata: request.config }],
  ])("differs by %s", (_what, changed) => {
    expect(hex(changed)).not.toBe(hex({}));
  });

  test("stays what it is: stored fingerprints outlive releases", () => {
    expect(hex({})).toBe("0ff3b4ab6cca1b524175727f24fc645d32498ae0b87973217a4f377451874e7e");
  });
});

describe("the words of a run name", () => {
  test("are an adjective and a noun, always the same for one id", () => {
    const id = "01234567-89ab-7def-8123-456789abcdef";
    expect(runNameWords(id)).toMatch(/^[a-z]+-[a-z]+$/);
    expect(runNameWords(id)).toBe(runNameWords(id));
  });

  test("differ among the ids of one moment", () => {
    const ids = Array.from(
      { length: 200 },
      (_, i) => `0192a000-0000-7000-8000-0000${(i * 0x9e3779b1).toString(16).slice(-8).padStart(8, "0")}`,
    );
    expect(new Set(ids.map(runNameWords)).size).toBeGreaterThan(100);
  });
});
