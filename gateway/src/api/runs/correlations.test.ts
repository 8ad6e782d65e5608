import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { CorrelateRunsResponseSchema } from "@tidemark/proto/runs/v1/runs";
import { inputOf } from "../route-input.fixture.ts";
import { decodeCorrelateRuns, encodeCorrelateRuns } from "./correlations.ts";

const id = "5b0c0000-0000-4000-8000-00000000000a";
const decode = (body: Record<string, unknown>) => decodeCorrelateRuns(inputOf({ body }));

describe("POST /api/runs/correlations reads", () => {
  test("a metric, columns each once, and a filter as lists have it", () => {
    const body = {
      metric: " loss ",
      columns: ["config.lr", " config.lr", "metrics.acc"],
      filter: { q: "tag:x", project_id: ` ${id.toUpperCase()}`, status: "all", stale: "true", project: null },
    };
    expect(decode(body)).toEqual({
      metric: "loss",
      columns: ["config.lr", "metrics.acc"],
      runIds: [],
      filter: { q: "tag:x", projectId: id, stale: true },
    });
  });

  test("runs in lower case, each once", () => {
    expect(decode({ metric: "loss", run_ids: [id, id.toUpperCase()], columns: null })).toEqual({
      metric: "loss",
      columns: [],
      runIds: [id],
    });
  });
});

describe("POST /api/runs/correlations refuses", () => {
  const good = { metric: "loss", filter: {} };
  test.each<[string, Record<string, unknown>, string]>([
    ["no metric", { filter: {} }, "metric"],
    ["a blank metric", { ...good, metric: " " }, "metric"],
    ["columns that are a text", { ...good, columns: "config.lr" }, "columns"],
    ["neither filter nor runs", { metric: "loss" }, "filter"],
    ["both filter and runs", { ...good, run_ids: [id] }, "run_ids"],
    ["no runs", { metric: "loss", run_ids: [] }, "run_ids"],
    ["a run without a UUID", { metric: "loss", run_ids: ["x"] }, "run_ids"],
    ["a filter that is a text", { metric: "loss", filter: "q" }, "filter"],
    ["a filter with an unknown staleness", { metric: "loss", filter: { stale: "x" } }, "stale"],
  ])("%s", (_what, body, field) => {
    expect(() => decode(body)).toThrow(expect.objectContaining({ reason: "bad_request", field }));
  });
});

test("coefficients that are not there are null", () => {
  const correlations = [{ column: "config.lr", runCount: 3, pearson: 0, spearman: -0.5 }, { column: "config.x" }];
  const message = { metric: "metrics.loss.latest", runCount: 7, correlations };
  expect(encodeCorrelateRuns(create(CorrelateRunsResponseSchema, message)).body).toEqual({
    metric: "metrics.loss.latest",
    run_count: 7,
    correlations: [
      { column: "config.lr", run_count: 3, pearson: 0, spearman: -0.5 },
      { column: "config.x", run_count: 0, pearson: null, spearman: null },
    ],
  });
});

test("characters that no stored text has are passed on in a search, which then finds nothing", () => {
  for (const q of ["a\u0000b", "\ud800"]) expect(decode({ metric: "loss", filter: { q } }).filter).toMatchObject({ q });
});

test.each([1, true, ["x"], {}])("a parameter of the filter that is %j is refused", (q) => {
  expect(() => decode({ metric: "loss", filter: { q } })).toThrow(
    expect.objectContaining({ reason: "bad_request", field: "filter" }),
  );
});

test("parameters of the filter that are null, blank or unknown count as left out", () => {
  const filter = { q: null, project: " ", other: 1 };
  expect(decode({ metric: "loss", filter })).toEqual(decode({ metric: "loss", filter: {} }));
});
