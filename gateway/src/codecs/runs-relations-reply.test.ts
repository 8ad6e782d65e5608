import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { ForkRunResponseSchema, GetLineageResponseSchema, type RunSummarySchema } from "@tidemark/proto/runs/v1/runs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { runRelationsRoutes } from "../routes/run-relations.ts";
import type { RouteReply } from "../route.ts";
import { writeJson } from "./json.ts";
import { encodeForkRun, encodeGetLineage } from "./runs-relations-reply.ts";

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

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
formats.default(ajv);

function bodyOf(reply: RouteReply, method: string): Record<string, unknown> {
  const body: unknown = JSON.parse(writeJson(reply.body));
  const record = runRelationsRoutes.find((route) => route.method === method);
  const validate = ajv.compile(record?.schemas.response ?? false);
  expect([validate(body), validate.errors]).toEqual([true, null]);
  return body as Record<string, unknown>;
}

describe("a fork", () => {
  test("is the child with an empty summary, and where it comes from", () => {
    const run = summaryOf("a", { parentRunId: idOf("b"), forkedFromStep: 0.5 });
    const reply = encodeForkRun(create(ForkRunResponseSchema, { run, message: "forked" }));
    expect(reply.replayed).toBe(false);
    expect(writeJson(reply.body)).toContain('"config":{"seed":12345678901234567890}');
    expect(bodyOf(reply, "POST")).toMatchObject({
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
    expect(bodyOf(reply, "POST")).toMatchObject({ fork: { forked_from_step: null } });
  });
});

describe("a lineage", () => {
  test("of a run without relatives", () => {
    const reply = encodeGetLineage(create(GetLineageResponseSchema, { run: summaryOf("a"), limit: 100 }));
    expect(bodyOf(reply, "GET")).toEqual({
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
    expect(bodyOf(encodeGetLineage(create(GetLineageResponseSchema, lineage)), "GET")).toMatchObject({
      parent: { id: idOf("b") },
      children: [{ id: idOf("c") }, { id: idOf("d") }],
      children_total: Number(childrenTotal),
      has_more_children: more,
    });
  });
});
