import { describe, expect, test } from "@jest/globals";
import { readDocument, writeCanonical, type ExactObject } from "@tidemark/documents";
import {
  forkName,
  forkedRun,
  refuseLargeFork,
  refuseReservedKeys,
  withCheckpoint,
  type Checkpoint,
  type ForkSource,
  type ForkWish,
} from "./fork.rules.ts";

const document = (text: string): ExactObject => readDocument(Buffer.from(text), "config");
const at = "2026-01-02T03:04:05.678901Z";
const source: ForkSource = {
  id: "5b0c0000-0000-4000-8000-00000000000a",
  project: "demo",
  name: "calm-otter-3",
  config: document('{"lr":0.10,"model":{"depth":2,"width":8},"seed":12345678901234567890}'),
  tags: ["base", "b", "base"],
};
const nothing: ForkWish = {
  name: undefined,
  step: undefined,
  checkpointArtifactId: undefined,
  inheritConfig: true,
  configOverrides: {},
  tags: [],
  notes: undefined,
  metadata: {},
};
const fork = (wish: Partial<ForkWish>, of: Partial<ForkSource> = {}, checkpoint?: Checkpoint) => {
  const child = forkedRun({ ...source, ...of }, { ...nothing, ...wish }, at, checkpoint);
  const written = { ...child, config: writeCanonical(child.config), metadata: writeCanonical(child.metadata) };
  refuseLargeFork(written);
  return written;
};

describe("the config of a fork", () => {
  test.each<[string, Partial<ForkWish>, string]>([
    ["is the parent's", {}, '{"lr":0.10,"model":{"depth":2,"width":8},"seed":12345678901234567890}'],
    [
      "has overrides laid over it by top key",
      { configOverrides: document('{"model":{"width":16},"a":null}') },
      '{"a":null,"lr":0.10,"model":{"width":16},"seed":12345678901234567890}',
    ],
    [
      "is nothing but the overrides where it inherits none",
      { inheritConfig: false, configOverrides: document('{"seed":18446744073709551615}') },
      '{"seed":18446744073709551615}',
    ],
    ["may be empty", { inheritConfig: false }, "{}"],
  ])("%s", (_, wish, expected) => expect(fork(wish).config).toBe(expected));
});

describe("the tags of a fork", () => {
  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ["are the parent's, the given ones and forked", ["base"], ["x"], ["base", "x", "forked"]],
    ["are each kept once, at their first position", ["a", "b", "a"], ["b", "c", "c", "a"], ["a", "b", "c", "forked"]],
    ["keep forked where it is", ["forked", "a"], ["b"], ["forked", "a", "b"]],
    ["are just forked where there are none", [], [], ["forked"]],
  ])("%s", (_, parents, given, expected) => {
    expect(fork({ tags: given }, { tags: parents }).tags).toEqual(expected);
  });
});

describe("the metadata of a fork", () => {
  const lineage = {
    kind: "fork",
    source_run_id: source.id,
    source_project: "demo",
    source_run_name: "calm-otter-3",
    source_step: null,
    checkpoint_artifact_id: null,
    checkpoint_name: null,
    checkpoint_step: null,
    inherit_config: true,
    created_at: at,
  };

  test("say which checkpoint it starts from", () => {
    const checkpoint = { type: "checkpoint", name: "policy.pt", step: 0.5 };
    const wish = withCheckpoint({ ...nothing, checkpointArtifactId: source.id }, checkpoint);
    expect(JSON.parse(fork(wish, {}, checkpoint).metadata)).toEqual({
      lineage: {
        ...lineage,
        checkpoint_artifact_id: source.id,
        checkpoint_name: "policy.pt",
        checkpoint_step: 0.5,
        source_step: 0.5,
      },
    });
  });

  test("name its origin", () => {
    expect(JSON.parse(fork({}).metadata)).toEqual({ lineage });
    expect(JSON.parse(fork({ step: 0.5, inheritConfig: false }).metadata)).toEqual({
      lineage: { ...lineage, source_step: 0.5, inherit_config: false },
    });
  });

  test("are the given ones, with the digits that were sent, and notes beat those in them", () => {
    const { metadata } = fork({ metadata: document('{"gpu":1.0,"notes":"old"}'), notes: "new" });
    expect(metadata).toContain('"gpu":1.0,');
    expect(JSON.parse(metadata)).toEqual({ gpu: 1, notes: "new", lineage });
  });

  test.each(["lineage", "parent_run_id", "forked_from_step", "forked_from_artifact_id"])(
    "may not have the key %s, with any value",
    (key) => {
      for (const value of ["null", "1", "{}"]) {
        expect(() => refuseReservedKeys(document(`{"a":1,"${key}":${value}}`))).toThrow(
          expect.objectContaining({ reason: "bad_request", field: "metadata" }),
        );
      }
      expect(() =>
        refuseReservedKeys(document(`{"a":{"${key}":1},"${key}s":2,"__proto__":{"${key}":1}}`)),
      ).not.toThrow();
    },
  );
});

describe("config and metadata together", () => {
  const base = fork({ inheritConfig: false });
  const bytesLeft = 1_000_000 - base.config.length - base.metadata.length;

  test("may have a million bytes", () => {
    const config = document(`{"k":"${"x".repeat(bytesLeft - 6)}"}`);
    const made = fork({ inheritConfig: false, configOverrides: config });
    expect(made.config.length + made.metadata.length).toBe(1_000_000);
  });

  test.each<[string, Partial<ForkWish>, Partial<ForkSource>]>([
    [
      "by the overrides",
      { inheritConfig: false, configOverrides: document(`{"k":"${"x".repeat(bytesLeft - 5)}"}`) },
      {},
    ],
    ["by what is inherited", {}, { config: document(`{"k":"${"x".repeat(bytesLeft - 4)}"}`) }],
    [
      "by both",
      { metadata: document(`{"m":"${"é".repeat(bytesLeft / 4)}"}`) },
      { config: document(`{"k":"${"x".repeat(bytesLeft / 2)}"}`) },
    ],
  ])("may not have more: %s", (_, wish, of) => {
    expect(() => fork(wish, of)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  });
});

test("a fork has the name that it was given, or one after its parent", () => {
  expect(fork({ name: "mine", step: 3 }).name).toBe("mine");
  expect(fork({}).name).toBe("fork-of-calm-otter-3");
  expect(fork({ step: 120 }).name).toBe("fork-of-calm-otter-3-step-120");
});

describe("the name of a fork", () => {
  test.each([
    ["p", undefined, "fork-of-p"],
    ["p", 0, "fork-of-p-step-0"],
    ["p", 120, "fork-of-p-step-120"],
    ["p", 0.5, "fork-of-p-step-0.5"],
    ["fork-of-p", 1e21, "fork-of-fork-of-p-step-1e+21"],
  ])("of %s at step %s is %s", (parent, step, expected) => expect(forkName(parent, step)).toBe(expected));

  test.each([
    ["x".repeat(1016), undefined, 1024],
    ["x".repeat(1024), undefined, 1024],
    ["x".repeat(1024), 12.5, 1024],
    ["é".repeat(512), undefined, 1024],
    ["é".repeat(512), 1, 1023],
    ["\u{1F600}".repeat(256), 12, 1024],
    ["\u{1F600}".repeat(256), 1, 1023],
  ])("of %s at step %s is cut to whole characters, the step stays", (parent, step, bytes) => {
    const name = forkName(parent, step);
    expect(Buffer.byteLength(name)).toBe(bytes);
    expect(name.isWellFormed()).toBe(true);
    expect(name.startsWith("fork-of-")).toBe(true);
    if (step !== undefined) expect(name.endsWith(`-step-${step}`)).toBe(true);
  });
});

describe("the checkpoint of a fork", () => {
  const checkpoint = { type: "checkpoint", name: "c", step: 7 };
  test.each<[string, Partial<ForkWish>, Checkpoint, number | undefined]>([
    ["gives its step where none is named", {}, checkpoint, 7],
    ["may be named with its step", { step: 7 }, checkpoint, 7],
    ["has no say where it has no step", { step: 3 }, { ...checkpoint, step: null }, 3],
    ["may leave the step open", {}, { ...checkpoint, step: null }, undefined],
  ])("%s", (_, wish, of, step) => expect(withCheckpoint({ ...nothing, ...wish }, of).step).toBe(step));

  test.each<[string, Partial<ForkWish>, Checkpoint, string]>([
    ["of another step", { step: 8 }, checkpoint, "step"],
    ["that is a file", {}, { ...checkpoint, type: "file" }, "checkpoint_artifact_id"],
  ])("%s is refused", (_, wish, of, field) => {
    expect(() => withCheckpoint({ ...nothing, ...wish }, of)).toThrow(expect.objectContaining({ field }));
  });
});
