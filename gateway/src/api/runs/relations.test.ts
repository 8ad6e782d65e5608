import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { ForkRunResponseSchema, GetLineageResponseSchema, type RunSummarySchema } from "@tidemark/proto/runs/v1/runs";
import { writeJson } from "../../http/json.ts";
import { parseJsonObject } from "@tidemark/documents";
import { bodyOf } from "../response-schema.fixture.ts";
import { inputOf } from "../route-input.fixture.ts";
import { decodeForkRun, encodeForkRun, encodeGetLineage } from "./relations.ts";

const runId = "5b0c0000-0000-4000-8000-00000000000a";
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const decode = (body: Readonly<Record<string, unknown>>, more: { idempotencyKey?: string } = {}) => {
  const request = decodeForkRun(inputOf({ params: { run_id: runId }, body, ...more }));
  const { configOverridesJson, metadataJson, ...rest } = request;
  return { ...rest, overrides: text(configOverridesJson), metadata: text(metadataJson) };
};
const nothing = { runId, idempotencyKey: "", tags: [], overrides: "{}", metadata: "{}" };

describe("POST /api/runs/{run_id}/forks reads", () => {
  test.each([
    ["an empty body", {}, nothing],
    [
      "nulls as absent",
      {
        name: null,
        step: null,
        checkpoint_artifact_id: null,
        inherit_config: null,
        config_overrides: null,
        tags: null,
        notes: null,
        metadata: null,
      },
      nothing,
    ],
    ["a blank name as absent", { name: "  " }, nothing],
    ["unknown fields not at all", { colour: "red", parent_run_id: 1 }, nothing],
    ["texts trimmed", { name: " n ", notes: " o ", tags: [" a "] }, { ...nothing, name: "n", notes: "o", tags: ["a"] }],
    ["texts of exactly 512 bytes", { notes: "é".repeat(256) }, { ...nothing, notes: "é".repeat(256) }],
    ["step 0", { step: 0 }, { ...nothing, step: 0 }],
    ["a step with a fraction", { step: 12.5 }, { ...nothing, step: 12.5 }],
    ["a negative zero as 0", { step: -0 }, { ...nothing, step: 0 }],
    ["truth", { inherit_config: false }, { ...nothing, inheritConfig: false }],
    [
      "an artifact in capitals",
      { checkpoint_artifact_id: runId.toUpperCase() },
      { ...nothing, checkpointArtifactId: runId },
    ],
    [
      "documents",
      { config_overrides: { lr: null, a: [1] }, metadata: { "": 1 } },
      { ...nothing, overrides: '{"lr":null,"a":[1]}', metadata: '{"":1}' },
    ],
  ])("%s", (_, body, expected) => expect(decode(body)).toEqual(expected));

  test("the key", () => expect(decode({}, { idempotencyKey: "k" })).toEqual({ ...nothing, idempotencyKey: "k" }));

  test("integers beyond 2^53 digit by digit", () => {
    const body = parseJsonObject(Buffer.from('{"config_overrides":{"seed":12345678901234567890}}'), true);
    expect(decode(body).overrides).toBe('{"seed":12345678901234567890}');
  });

  test("a path that is not an id as it is, for the service not to find", () => {
    expect(decodeForkRun(inputOf({ params: { run_id: "x" } })).runId).toBe("x");
  });
});

describe("POST /api/runs/{run_id}/forks hands on the fault of", () => {
  test.each([
    ["a name that is not a text", { name: 1 }, "name"],
    ["a name with NUL", { name: "a\0b" }, "name"],
    ["a step beyond doubles", { step: Number.POSITIVE_INFINITY }, "step"],
    ["an artifact that is not a text", { checkpoint_artifact_id: 1 }, "checkpoint_artifact_id"],
    ["an inherit_config that is a number", { inherit_config: 1 }, "inherit_config"],
    ["overrides that are text", { config_overrides: "{}" }, "config_overrides"],
    ["a number beyond doubles in them", { config_overrides: { a: [Number.POSITIVE_INFINITY] } }, "config_overrides"],
    ["a tag of 513 bytes", { tags: ["t".repeat(513)] }, "tags"],
    ["metadata that are a number", { metadata: 1 }, "metadata"],
    ["half a surrogate pair in a tag", { tags: ["\ud800"] }, "tags"],
  ])("%s", (_, body, field) => {
    expect(decodeForkRun(inputOf({ params: { run_id: runId }, body, idempotencyKey: "k" }))).toEqual({
      runId,
      idempotencyKey: "k",
      bodyFault: { text: expect.any(String), field },
    });
  });
});

const utf8 = new TextEncoder();
const idOf = (letter: string): string => `5b0c0000-0000-4000-8000-00000000000${letter}`;
const at = "2026-01-02T03:04:05.678901Z";

function summaryOf(letter: string, more: object = {}): MessageInitShape<typeof RunSummarySchema> {
  return {
    run: {
      id: idOf(letter),
      orgId: idOf("0"),
      projectId: idOf("0"),
      project: "demo",
      name: `run-${letter}`,
      status: "running",
      configJson: utf8.encode('{"seed":12345678901234567890}'),
      metadataJson: utf8.encode("{}"),
      createdAt: at,
      startedAt: at,
      ...more,
    },
    runControl: { stopState: "none", displayStatus: "running" },
    metrics: {},
    artifactCounts: {},
  };
}

const forkRoute = "POST /api/runs/{run_id}/forks";
const lineageRoute = "GET /api/runs/{run_id}/lineage";

describe("a fork", () => {
  test("is the child with an empty summary, and its origin", () => {
    const run = summaryOf("a", { parentRunId: idOf("b"), forkedFromStep: 0.5 });
    const reply = encodeForkRun(create(ForkRunResponseSchema, { run, message: "forked" }));
    expect(reply.replayed).toBe(false);
    expect(writeJson(reply.body)).toContain('"config":{"seed":12345678901234567890}');
    expect(bodyOf(reply, forkRoute)).toMatchObject({
      run: {
        id: idOf("a"),
        parent_run_id: idOf("b"),
        forked_from_step: 0.5,
        forked_from_artifact_id: null,
        latest_metrics: {},
        metric_aggregates: {},
        metric_keys: [],
        artifact_counts: { checkpoint: 0, rollout: 0, file: 0 },
        run_control: { stop_state: "none", display_status: "running" },
      },
      fork: { parent_run_id: idOf("b"), forked_from_step: 0.5, forked_from_artifact_id: null, message: "forked" },
    });
  });

  test("without a step says null, and a repeat that it is one", () => {
    const run = summaryOf("a", { parentRunId: idOf("b") });
    const reply = encodeForkRun(create(ForkRunResponseSchema, { run, replayed: true }));
    expect(reply.replayed).toBe(true);
    expect(bodyOf(reply, forkRoute)).toMatchObject({ fork: { forked_from_step: null } });
  });
});

describe("a lineage", () => {
  test("of a run without relatives", () => {
    const reply = encodeGetLineage(create(GetLineageResponseSchema, { run: summaryOf("a"), limit: 100 }));
    expect(bodyOf(reply, lineageRoute)).toEqual({
      run: expect.objectContaining({ id: idOf("a") }),
      parent: null,
      children: [],
      checkpoint_artifact: null,
      children_total: 0,
      has_more_children: false,
      limit: 100,
    });
  });

  test.each([
    [2n, false],
    [3n, true],
  ])("with two children shown of %s", (childrenTotal, more) => {
    const children = [summaryOf("c"), summaryOf("d")];
    const lineage = { run: summaryOf("a"), parent: summaryOf("b"), children, childrenTotal, limit: 100 };
    expect(bodyOf(encodeGetLineage(create(GetLineageResponseSchema, lineage)), lineageRoute)).toMatchObject({
      parent: { id: idOf("b") },
      children: [{ id: idOf("c") }, { id: idOf("d") }],
      children_total: Number(childrenTotal),
      has_more_children: more,
    });
  });
});
