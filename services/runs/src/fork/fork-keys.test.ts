import { describe, expect, test } from "@jest/globals";
import { isUuid } from "@tidemark/requests";
import { readDocument } from "../documents/exact-json.rules.ts";
import { forkFingerprint, forkRunId, type ForkWish } from "./fork.rules.ts";

const org = "11111111-1111-4111-8111-111111111111";
const other = "22222222-2222-4222-8222-222222222222";

test("the id of a keyed fork follows from organization and key", () => {
  expect(forkRunId(org, "k")).toBe(forkRunId(org, "k"));
  const ids = [forkRunId(org, "k"), forkRunId(org, "l"), forkRunId(other, "k"), forkRunId(org, " k")];
  expect(new Set(ids).size).toBe(ids.length);
});

test("it is a UUID of version 8", () => {
  for (let i = 0; i < 100; i += 1) {
    const id = forkRunId(org, `key-${i}`);
    expect(isUuid(id)).toBe(true);
    expect(id).toMatch(/^.{14}8.{4}[89ab]/);
  }
});

const document = (text: string) => readDocument(Buffer.from(text), "config");
const run = "5b0c0000-0000-4000-8000-00000000000a";
const base: ForkWish = {
  name: "n",
  step: 1,
  checkpointArtifactId: undefined,
  inheritConfig: true,
  configOverrides: document('{"a":1,"b":{"c":2,"d":3}}'),
  tags: ["x", "y"],
  notes: undefined,
  metadata: {},
};
const hex = (wish: Partial<ForkWish>, of = run) =>
  Buffer.from(forkFingerprint(of, { ...base, ...wish })).toString("hex");

describe("a fork request is the same one", () => {
  test.each<[string, Partial<ForkWish>]>([
    ["in another order of keys", { configOverrides: document('{"b":{"d":3,"c":2},"a":1}') }],
    ["with numbers in another notation", { configOverrides: document('{"a":1.0,"b":{"c":2e0,"d":30e-1}}') }],
  ])("%s", (_, wish) => expect(hex(wish)).toBe(hex({})));
});

describe("a fork request is another one", () => {
  test.each<[string, Partial<ForkWish>]>([
    ["with another name", { name: "m" }],
    ["without a name", { name: undefined }],
    ["at another step", { step: 1.5 }],
    ["without a step", { step: undefined }],
    ["with an artifact", { checkpointArtifactId: run }],
    ["without the parent's config", { inheritConfig: false }],
    ["with other overrides", { configOverrides: document('{"a":9007199254740993}') }],
    ["with overrides that differ in a digit beyond doubles", { configOverrides: document('{"a":9007199254740992}') }],
    ["with tags in another order", { tags: ["y", "x"] }],
    ["with notes", { notes: "n" }],
    ["with metadata", { metadata: document('{"a":1}') }],
  ])("%s", (_, wish) => expect(hex(wish)).not.toBe(hex({})));

  test("of another run", () => expect(hex({}, "5b0c0000-0000-4000-8000-00000000000b")).not.toBe(hex({})));

  test("and no two of these are one", () => {
    const one = hex({ configOverrides: document('{"a":9007199254740993}') });
    expect(one).not.toBe(hex({ configOverrides: document('{"a":9007199254740992}') }));
    expect(one).toMatch(/^[0-9a-f]{64}$/);
  });
});
