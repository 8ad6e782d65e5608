import { describe, expect, test } from "@jest/globals";
import { inputOf } from "./runs-input.fixture.ts";
import { decodeListRuns } from "./runs-list-request.ts";

const decode = (query: Readonly<Record<string, string>>) => decodeListRuns(inputOf({ query }));
const nothing = { sortBy: "created", metricKey: "eval/return_mean", limit: 100, offset: 0n };

describe("GET /runs reads", () => {
  test.each([
    ["no parameters", {}, nothing],
    [
      "blank ones as absent",
      { project: " ", status: "", display_status: "", sort_by: " ", metric_key: "", limit: "", offset: " ", q: " " },
      nothing,
    ],
    ["all as no filter", { project: "all", status: "all", display_status: "all" }, nothing],
    [
      "filters as they are, valid or not",
      { project: " p", status: "Running", display_status: "x" },
      { ...nothing, project: " p", status: "Running", displayStatus: "x" },
    ],
    [
      "order and metric",
      { sort_by: " metric-best ", metric_key: " train/loss " },
      { ...nothing, sortBy: "metric-best", metricKey: "train/loss" },
    ],
    ["a page", { limit: "1000", offset: "9007199254740991" }, { ...nothing, limit: 1000, offset: 9007199254740991n }],
    ["unknown parameters not at all", { colour: "red" }, nothing],
  ])("%s", (_what, query, expected) => {
    expect(decode(query)).toEqual(expected);
  });
});

describe("GET /runs refuses", () => {
  test.each([
    ["a limit of 0", { limit: "0" }, "limit"],
    ["a limit of 1001", { limit: "1001" }, "limit"],
    ["a limit that is no number", { limit: "ten" }, "limit"],
    ["a limit with a fraction", { limit: "1.5" }, "limit"],
    ["a limit in another notation", { limit: "1e2" }, "limit"],
    ["a negative offset", { offset: "-1" }, "offset"],
    ["an offset that is no number", { offset: "x" }, "offset"],
    ["an offset beyond exact numbers", { offset: "9007199254740992" }, "offset"],
    ["an unknown order", { sort_by: "size" }, "sort_by"],
    ["an order in capitals", { sort_by: "Name" }, "sort_by"],
    ["a metric key of 513 bytes", { metric_key: "k".repeat(513) }, "metric_key"],
    ["a search, until there is one", { q: "tag:x" }, "q"],
  ])("%s", (_what, query, field) => {
    expect(() => decode(query)).toThrow(expect.objectContaining({ reason: "bad_request", field }));
  });
});
