import { describe, expect, test } from "@jest/globals";
import { inputOf } from "../route-input.fixture.ts";
import { decodeGetRun } from "./read.ts";
import { decodeUpdateRun } from "./change.ts";

const runId = "5b0c0000-0000-4000-8000-00000000000a";
const params = { run_id: runId };

describe("the id in the path", () => {
  test.each([
    [runId, runId],
    [runId.toUpperCase(), runId],
    ["not-a-uuid", "not-a-uuid"],
    ["00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000"],
  ])("%s is passed on as %s, for the service to find or not", (sent, expected) => {
    const input = inputOf({ params: { run_id: sent }, body: { notes: "" } });
    expect(decodeGetRun(input).runId).toBe(expected);
    expect(decodeUpdateRun(input).runId).toBe(expected);
  });
});

describe("GET /runs/{run_id}", () => {
  const first = { runId, metricPrefix: "", metricLimit: 1000, metricCursor: "" };
  test.each([
    ["the first page without parameters", {}, first],
    [
      "a page",
      { metric_prefix: "train/", metric_limit: "10", metric_cursor: "YWJj" },
      { runId, metricPrefix: "train/", metricLimit: 10, metricCursor: "YWJj" },
    ],
    ["the cursor of the longest key", { metric_cursor: "A".repeat(683) }, { ...first, metricCursor: "A".repeat(683) }],
  ])("reads %s", (_what, query, expected) => {
    expect(decodeGetRun(inputOf({ params, query }))).toEqual(expected);
  });

  test.each([
    ["a limit of 0", { metric_limit: "0" }, "metric_limit"],
    ["a limit of 1001", { metric_limit: "1001" }, "metric_limit"],
    ["a limit that is not a number", { metric_limit: "x" }, "metric_limit"],
    ["a prefix of 513 bytes", { metric_prefix: "p".repeat(513) }, "metric_prefix"],
    ["an endless cursor", { metric_cursor: "A".repeat(701) }, "metric_cursor"],
  ])("hands on the fault of %s", (_what, query, field) => {
    expect(decodeGetRun(inputOf({ params, query }))).toEqual({
      runId,
      queryFault: { text: expect.any(String), field },
    });
  });
});

describe("PATCH /runs/{run_id}", () => {
  test.each([
    ["a status", { status: "finished" }, { runId, status: "finished" }],
    ["a name, trimmed", { name: " n " }, { runId, name: "n" }],
    ["tags", { tags: [" a ", "b"] }, { runId, tags: { tags: ["a", "b"] } }],
    ["no tags at all", { tags: [] }, { runId, tags: { tags: [] } }],
    ["notes, trimmed", { notes: " n " }, { runId, notes: "n" }],
    ["blank notes as their removal", { notes: "  " }, { runId, notes: "" }],
    ["nulls next to a value as absent", { status: null, tags: null, notes: "n" }, { runId, notes: "n" }],
    [
      "all three",
      { status: "failed", tags: ["t"], notes: "" },
      { runId, status: "failed", tags: { tags: ["t"] }, notes: "" },
    ],
  ])("reads %s", (_what, body, expected) => {
    expect(decodeUpdateRun(inputOf({ params, body }))).toEqual(expected);
  });

  test.each([
    ["no field", {}, ""],
    ["only nulls", { status: null, tags: null, notes: null }, ""],
    ["an unknown status", { status: "paused" }, "status"],
    ["a status that is not a text", { status: 1 }, "status"],
    ["a blank name", { name: " " }, "name"],
    ["a name of 513 bytes", { name: "n".repeat(513) }, "name"],
    ["an empty tag", { tags: [""] }, "tags"],
    ["notes that are not a text", { notes: 1 }, "notes"],
    ["notes with NUL", { notes: "a\u0000" }, "notes"],
    ["a fault next to valid fields", { status: "failed", tags: 1 }, "tags"],
  ])("hands on the fault of %s, and nothing else", (_what, body, field) => {
    expect(decodeUpdateRun(inputOf({ params, body }))).toEqual({
      runId,
      bodyFault: { text: expect.any(String), field },
    });
  });
});
