import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { SummarizeRunsResponseSchema } from "@tidemark/proto/runs/v1/runs";
import { writeJson } from "../../http/json.ts";
import { parseQuery } from "../../http/query.ts";
import { inputOf } from "../route-input.fixture.ts";
import { decodeListRuns, decodeOverview, decodeSummarizeRuns, encodeSummarizeRuns } from "./list.ts";

type Query = Readonly<Record<string, string>>;

const id = "5b0c0000-0000-4000-8000-00000000000a";
const noFilter = { q: "" };
const newest = { sortBy: "created", metricKey: "eval/return_mean" };
const nothing = { filter: noFilter, order: newest, limit: 100, offset: 0n };
const blank = {
  project: " ",
  project_id: " ",
  status: "",
  display_status: "",
  sort_by: " ",
  metric_key: "",
  limit: "",
  offset: " ",
  cursor: " ",
};

const list = (query: Query) => decodeListRuns(inputOf({ query }));
const summarize = (query: Query) => decodeSummarizeRuns(inputOf({ query }));
const overview = (query: Query) => decodeOverview(inputOf({ query }));

describe("GET /runs reads", () => {
  test.each([
    ["no parameters", {}, nothing],
    ["blank ones as absent", blank, nothing],
    ["a page", { limit: " 1000 ", offset: "9007199254740991" }, { ...nothing, limit: 1000, offset: 9007199254740991n }],
    [
      "order and metric",
      { sort_by: " metric-best ", metric_key: " train/loss " },
      { ...nothing, order: { sortBy: "metric-best", metricKey: "train/loss" } },
    ],
    ["no cursor and no projection, which it has not", { cursor: "offset:5", projection: "selection" }, nothing],
    ["unknown parameters not at all", { colour: "red" }, nothing],
  ])("%s", (_what, query: Query, expected) => {
    expect(list(query)).toEqual(expected);
  });
});

describe("a filter of run lists", () => {
  test.each([
    ["is empty without parameters", {}, noFilter],
    [
      "takes all for every project and state",
      { project: "all", project_id: "all", status: "all", display_status: "all" },
      noFilter,
    ],
    ["takes all in capitals for a name", { project: "ALL", status: "All" }, { q: "", project: "ALL", status: "All" }],
    [
      "keeps values as they are, valid or not",
      { project: " p", status: "Running", display_status: "x" },
      { q: "", project: " p", status: "Running", displayStatus: "x" },
    ],
    ["takes stale runs", { stale: "true" }, { q: "", stale: true }],
    ["takes all but stale runs", { stale: " false" }, { q: "", stale: false }],
    ["takes all for stale runs and others", { stale: "all" }, noFilter],
    ["writes the id of a project in lower case", { project_id: ` ${id.toUpperCase()} ` }, { q: "", projectId: id }],
    [
      "leaves what is not an id to the service, which finds nothing",
      { project_id: "none" },
      { q: "", projectId: "none" },
    ],
    ["leaves the query as it is", { q: " (tag:x " }, { q: " (tag:x " }],
    ["does not read the query for any other parameter", { q: "all" }, { q: "all" }],
  ])("%s", (_what, query: Query, expected) => {
    expect(list(query).filter).toEqual(expected);
    expect(summarize(query).filter).toEqual(expected);
    expect(overview(query).filter).toEqual(expected);
  });

  test.each([
    ["a plus is a space", "q=a+b", "a b"],
    ["an escaped plus is a plus", "q=a%2Bb", "a+b"],
    ["an escaped percent sign is one", "q=100%25", "100%"],
    ["an escaped ampersand belongs to the value", "q=a%26status%3Dfailed", "a&status=failed"],
    ["an equals sign belongs to the value", "q=lr=0.1", "lr=0.1"],
    ["a hash, a quote and a slash arrive", "q=%23%22re%3A%2Fx%2F", '#"re:/x/'],
    ["letters beyond ASCII arrive", "q=%C3%A9%F0%9F%98%80", "é😀"],
    ["blanks are not a query", "q=+%20%09", ""],
    ["nothing is not a query", "q=", ""],
    ["a name without a value is not a query", "q", ""],
  ])("%s: %s", (_what, text, expected) => {
    expect(list(parseQuery(text)).filter?.q).toBe(expected);
  });

  test.each(["q=%", "q=%zz", "q=%ff", "project=a%00b", "q=a&q=b", "q=&q="])(
    "the query string %s is refused",
    (text) => {
      expect(() => parseQuery(text)).toThrow(expect.objectContaining({ reason: "bad_request" }));
    },
  );
});

describe("GET /api/runs/summary reads", () => {
  const order = { ...newest, sortDir: "" };
  const first = { ...nothing, order, cursor: "", selection: false, columns: [], knownTags: [] };
  test.each([
    ["no parameters", {}, first],
    ["blank ones as absent", blank, first],
    [
      "a cursor with an offset",
      { cursor: " offset:200 ", offset: "7" },
      { ...first, cursor: "offset:200", offset: 7n },
    ],
    ["a cursor of any shape, which the service judges", { cursor: "!" }, { ...first, cursor: "!" }],
    ["the projection selection", { projection: "selection" }, { ...first, selection: true }],
    ["any other projection as none", { projection: "Selection" }, first],
    [
      "order and page",
      { sort_by: "name", limit: "1", offset: "2" },
      { ...first, order: { ...order, sortBy: "name" }, limit: 1, offset: 2n },
    ],
    [
      "an order by a column, which the service judges",
      { sort_by: " config.lr ", sort_dir: " desc " },
      { ...first, order: { ...order, sortBy: "config.lr", sortDir: "desc" } },
    ],
    [
      "columns, each once, which the service judges",
      { columns: "config.lr, metrics.loss,,x,config.lr" },
      { ...first, columns: ["config.lr", "metrics.loss", "x"] },
    ],
    ["blank columns as none", { columns: " , " }, first],
  ])("%s", (_what, query: Query, expected) => {
    expect(summarize(query)).toEqual(expected);
  });
});

describe("GET /api/overview reads", () => {
  test.each([
    ["no parameters", {}, { filter: noFilter, metricKey: "eval/return_mean" }],
    ["blank ones as absent", blank, { filter: noFilter, metricKey: "eval/return_mean" }],
    ["the metric", { metric_key: " loss " }, { filter: noFilter, metricKey: "loss" }],
    [
      "neither order nor page, valid or not",
      { sort_by: "size", limit: "0", offset: "x", cursor: "?" },
      { filter: noFilter, metricKey: "eval/return_mean" },
    ],
  ])("%s", (_what, query: Query, expected) => {
    expect(overview(query)).toEqual(expected);
  });
});

const pageFaults: [what: string, query: Query, field: string][] = [
  ["a limit of 1001", { limit: "1001" }, "limit"],
  ["an offset beyond exact numbers", { offset: "9007199254740992" }, "offset"],
  ["an order of 513 bytes", { sort_by: "s".repeat(513) }, "sort_by"],
  ["a metric key of 513 bytes", { metric_key: "k".repeat(513) }, "metric_key"],
  ["a metric key with half of a surrogate pair", { metric_key: "k\u{D800}" }, "metric_key"],
];

describe.each([
  ["GET /runs", list],
  ["GET /api/runs/summary", summarize],
])("%s refuses", (_route, decode) => {
  test.each(pageFaults)("%s", (_what, query, field) => {
    expect(() => decode(query)).toThrow(expect.objectContaining({ reason: "bad_request", field }));
  });
});

test.each(["size", "Name", "config.lr"])("GET /runs refuses to sort by %s", (sortBy) => {
  expect(() => list({ sort_by: sortBy })).toThrow(expect.objectContaining({ reason: "bad_request", field: "sort_by" }));
});

describe("the answer of GET /api/runs/summary", () => {
  const summary = { run: { status: "running" }, metrics: {}, runControl: {}, artifactCounts: {} };
  const answerOf = (message: Parameters<typeof create<typeof SummarizeRunsResponseSchema>>[1], query: Query = {}) =>
    encodeSummarizeRuns(create(SummarizeRunsResponseSchema, message), summarize(query));

  test("has columns under their names, with their digits, when they were requested", async () => {
    const columnValues = [{ valuesJson: ["0.10", "", '"x"'] }];
    const reply = await answerOf(
      { runs: [summary], columnValues, tag: "t1" },
      { columns: 'config.lr,metrics.a,config."' },
    );
    expect(reply.etag).toBe("t1");
    expect(writeJson(reply.body)).toContain(String.raw`"columns":{"config.lr":0.10,"metrics.a":null,"config.\"":"x"}`);
    expect(writeJson((await answerOf({ runs: [summary] })).body)).not.toContain('"columns"');
  });

  test("is a tag alone where the client has it", async () => {
    expect(await answerOf({ tag: "t1", notModified: true })).toEqual({ body: null, etag: "t1", notModified: true });
  });

  test("is requested with the tags that the client has", () => {
    expect(decodeSummarizeRuns(inputOf({ query: {}, knownTags: ["a"] })).knownTags).toEqual(["a"]);
  });
});

test("GET /api/overview refuses a metric key of 513 bytes", () => {
  expect(() => overview({ metric_key: "é".repeat(257) })).toThrow(
    expect.objectContaining({ reason: "bad_request", field: "metric_key" }),
  );
});

test("a metric key of 512 bytes is one", () => {
  expect(overview({ metric_key: "é".repeat(256) }).metricKey).toBe("é".repeat(256));
});
