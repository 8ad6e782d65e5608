import { describe, expect, test } from "@jest/globals";
import { readDocument } from "../documents/exact-json.rules.ts";
import { createFingerprint } from "./create-fingerprint.ts";

const document = (text: string) => readDocument(new TextEncoder().encode(text), "x");

describe("the fingerprint of a create request", () => {
  const request = {
    id: "5b0c0000-0000-4000-8000-000000000001",
    project: "p",
    name: "n",
    config: document('{"a":1,"b":{"c":2,"d":3}}'),
    tags: ["t", "u"],
    metadata: document("{}"),
  };
  const hex = (changed: Partial<Parameters<typeof createFingerprint>[0]>) =>
    Buffer.from(createFingerprint({ ...request, ...changed })).toString("hex");

  test("has 32 bytes and is the same for the same request in other words", () => {
    expect(hex({})).toMatch(/^[0-9a-f]{64}$/);
    expect(hex({ config: document('{"b":{"d":3.0,"c":2},"a":1e0}') })).toBe(hex({}));
  });

  test.each([
    ["id", { id: "5b0c0000-0000-4000-8000-000000000002" }],
    ["project", { project: "q" }],
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
    expect(hex({})).toBe("c22aef57af87a084cf37dee96cfa047090db6bffa659e080e2ee29dc69057b47");
  });
});
