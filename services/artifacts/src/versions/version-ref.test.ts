import { describe, expect, test } from "@jest/globals";
import { readRef } from "./version-ref.rules.ts";

const latest = { kind: "latest" };

describe("a reference", () => {
  test.each([
    ["policy", { name: "policy", selector: latest }],
    ["policy:latest", { name: "policy", selector: latest }],
    ["policy:v0", { name: "policy", selector: { kind: "index", index: 0 } }],
    ["policy:v12", { name: "policy", selector: { kind: "index", index: 12 } }],
    ["policy:v99999999999999999999", { name: "policy", selector: { kind: "index", index: -1 } }],
    ["policy:best", { name: "policy", selector: { kind: "alias", alias: "best" } }],
    ["policy:valid", { name: "policy", selector: { kind: "alias", alias: "valid" } }],
    ["policy:v", { name: "policy", selector: { kind: "alias", alias: "v" } }],
    ["policy:v1.2", { name: "policy", selector: { kind: "alias", alias: "v1.2" } }],
    ["policy:V1", { name: "policy", selector: { kind: "alias", alias: "V1" } }],
    ["model/policy", { type: "model", name: "policy", selector: latest }],
    [
      "my project/model/policy:best",
      { project: "my project", type: "model", name: "policy", selector: { kind: "alias", alias: "best" } },
    ],
    [
      "a:b/model/policy:best",
      { project: "a:b", type: "model", name: "policy", selector: { kind: "alias", alias: "best" } },
    ],
    ["a:b/model/policy", { project: "a:b", type: "model", name: "policy", selector: latest }],
  ])("%s", (text, expected) => {
    expect(readRef(text)).toEqual({ project: undefined, type: undefined, ...expected });
  });

  test.each(["", ":", "policy:", ":v1", "/policy", "model/", "a//b", "a/b/c/d", "a/b/c/d:v1", "///"])(
    "%j is refused",
    (text) => {
      expect(() => readRef(text)).toThrow(expect.objectContaining({ reason: "bad_request", field: "ref" }));
    },
  );
});
