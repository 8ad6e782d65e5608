import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FindConditionSchema, FindOrderSchema, FindQuerySchema } from "@tidemark/proto/runs/v1/find";
import { putAggregate } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
const call = callAs({ scopes: ["sdk:ingest", "export:read", "runs:control"] });
let ids: Record<string, string> = {};
let number = 0n;

/** Oldest first. */
const runs: readonly (readonly [name: string, config: string, metadata: string])[] = [
  ["a", '{"lr":0.001,"opt":"Adam"}', '{"mlflow":{"start_time":5000,"tags":{"k":"v.1"}}}'],
  ["b", '{"lr":10,"opt":"sgd","x":null}', '{"mlflow":{"start_time":9000,"tags":{"k":"w"}}}'],
  ["c", String.raw`{"lr":"auto","opt":"nul\u0000"}`, '{"k":"v.1"}'],
  ["d", '{"deep":{"lr":1}}', '{"mlflow":{"start_time":"late"}}'],
];

beforeAll(async () => {
  fixture = await startRuns();
  for (const [name, config, metadata] of runs) {
    const run = await makeRun(fixture.client, call, {
      name,
      project: "p",
      configJson: json(config),
      metadataJson: json(metadata),
    });
    ids = { ...ids, [name]: run.id };
    number = run.projectNumber;
  }
  await putAggregate(fixture, call.orgId, ids["a"]!, "loss", { latest: 2 });
  await putAggregate(fixture, call.orgId, ids["b"]!, "loss", { latest: 1 });
  await putAggregate(fixture, call.orgId, ids["c"]!, "loss", { latest: 2 });
  const newest = "UPDATE ingest.metric_aggregate_pages SET non_finite = ARRAY[1, 9, 9]::float8[] WHERE run_id = $1";
  await asOwner(fixture, newest, [ids["c"]]);
  const other = await makeRun(fixture.client, call, { name: "deleted", project: "p" });
  ids = { ...ids, deleted: other.id };
  await fixture.client.deleteRun({ runId: other.id }, call);
});
afterAll(() => fixture.close());

type Condition = MessageInitShape<typeof FindConditionSchema>;
type Query = MessageInitShape<typeof FindQuerySchema>;

async function page(query: Query, projectNumbers = [number]) {
  const asked = { limit: 100, view: "active", ...query };
  const { runs: found, more } = await fixture.client.findRuns({ projectNumbers, query: asked }, call);
  return { names: found.map(({ run }) => run!.run!.name).join(""), found, more };
}
const where = async (...conditions: Condition[]): Promise<string> =>
  (await page({ all: conditions.map((one) => ({ any: [one] })) })).names;
const by = async (...orders: MessageInitShape<typeof FindOrderSchema>[]): Promise<string> =>
  (await page({ orders })).names;

const config = (key: string) => [{ of: "config", path: [key] }];
const tag = (key: string) => [{ of: "metadata", path: ["mlflow", "tags", key] }];
const loss = [{ of: "metric", path: ["loss"] }];
const started = [
  { of: "metadata", path: ["mlflow", "start_time"], number: true },
  { of: "field", path: ["started_at"] },
];

test("without conditions the newest runs come first", async () => {
  expect(await page({})).toMatchObject({ names: "dcba", more: false });
});

describe("a condition on", () => {
  test.each<[what: string, condition: Condition, names: string]>([
    ["a number of a config, as it was sent", { firstOf: config("lr"), operator: "=", texts: ["0.001"] }, "a"],
    ["a pattern", { firstOf: config("lr"), operator: "like", texts: ["0.%"] }, "a"],
    ["a pattern that minds case", { firstOf: config("opt"), operator: "like", texts: ["adam"] }, ""],
    ["a pattern that does not", { firstOf: config("opt"), operator: "ilike", texts: ["a_AM"] }, "a"],
    ["another text, which a missing one is not", { firstOf: config("opt"), operator: "!=", texts: ["sgd"] }, "ca"],
    ["a text with NUL", { firstOf: config("opt"), operator: "=", texts: ["nul\u{FFFD}"] }, "c"],
    ["null in a config, which is a value", { firstOf: config("x"), operator: "=", texts: ["null"] }, "b"],
    ["an object, as JSON", { firstOf: config("deep"), operator: "=", texts: ['{"lr":1}'] }, "d"],
    ["a missing key", { firstOf: config("lr"), operator: "is null" }, "d"],
    ["a key that is there", { firstOf: config("lr"), operator: "is not null" }, "cba"],
    ["nested metadata", { firstOf: tag("k"), operator: "=", texts: ["v.1"] }, "a"],
    ["missing metadata too", { firstOf: tag("k"), operator: "!=", texts: ["w"], orMissing: true }, "dca"],
    ["a metric", { firstOf: loss, operator: "<", number: 2 }, "b"],
    ["a metric that is not finite", { firstOf: loss, operator: "!=", number: 2 }, "cb"],
    ["the first value that is there", { firstOf: started, operator: ">", number: 8000 }, "dcb"],
    ["names", { firstOf: [{ of: "field", path: ["name"] }], operator: "in", texts: ["a", "d"] }, "da"],
  ])("%s", async (_, condition, names) => {
    expect(await where(condition)).toBe(names);
  });

  test("ids", async () => {
    const id = [{ of: "field", path: ["id"] }];
    expect(await where({ firstOf: id, operator: "in", texts: [ids["a"]!, "x", ids["c"]!] })).toBe("ca");
    expect(await where({ firstOf: id, operator: "not in", texts: [ids["a"]!, "x"] })).toBe("dcb");
  });

  test("one of several", async () => {
    const any = ["a", "b"].map((name) => ({
      firstOf: [{ of: "field", path: ["name"] }],
      operator: "=",
      texts: [name],
    }));
    expect(await page({ all: [{ any }] })).toMatchObject({ names: "ba" });
    expect(await page({ all: [{ any: [] }] })).toMatchObject({ names: "" });
  });
});

test("missing values come last in both directions, not finite ones before them, and texts of configs after numbers", async () => {
  expect(await by({ firstOf: loss })).toBe("bacd");
  expect(await by({ firstOf: loss, descending: true })).toBe("abcd");
  expect(await by({ firstOf: config("lr") })).toBe("abcd");
  expect(await by({ firstOf: config("lr"), descending: true })).toBe("cbad");
  expect(await by({ firstOf: started })).toBe("abcd");
  expect(await by({ firstOf: tag("k"), descending: true })).toBe("badc");
});

test("pages continue behind any run, in each order", async () => {
  for (const firstOf of [loss, config("lr"), started, tag("k")]) {
    const orders = [{ firstOf, descending: true }];
    const whole = await page({ orders });
    let names = "";
    for (let cursor = "", more = true; more;) {
      const one = await page({ orders, limit: 1, cursor });
      names += one.names;
      cursor = one.found[0]!.cursor;
      more = one.more;
    }
    expect(names).toBe(whole.names);
  }
});

test("deleted runs are found by their view", async () => {
  const names = async (view: string) => (await page({ view })).names;
  expect([await names("active"), await names("deleted"), await names("all")]).toEqual([
    "dcba",
    "deleted",
    "deleteddcba",
  ]);
});

test("only projects that the caller sees are searched", async () => {
  expect((await page({}, [number + 1n])).names).toBe("");
  const { runs: named } = await fixture.client.findRuns(
    { projectNames: ["p", "p"], query: { limit: 10, view: "active" } },
    call,
  );
  expect(named).toHaveLength(4);
  const request = { projectNumbers: [number], query: { limit: 10, view: "all" } };
  expect((await fixture.client.findRuns(request, callAs())).runs).toEqual([]);
  const scoped = callAs({ orgId: call.orgId, projectId: "00000000-0000-4000-8000-000000000001" });
  expect((await fixture.client.findRuns(request, scoped)).runs).toEqual([]);
  expect((await fixture.client.findProjects(request, scoped)).projects).toEqual([]);
});

test("projects are found by fields and metadata, page by page", async () => {
  const own = callAs({ scopes: ["sdk:ingest", "runs:control"] });
  for (const name of ["x", "y", "z"])
    await fixture.client.createProject({ name, metadataJson: json(`{"mlflow":{"tags":{"k":"${name}"}}}`) }, own);
  const find = async (query: Query) => {
    const asked = { limit: 10, view: "active", ...query };
    const { projects, nextCursor } = await fixture.client.findProjects({ query: asked }, own);
    return { names: projects.map(({ name }) => name).join(""), nextCursor };
  };
  const numbers = [{ firstOf: [{ of: "field", path: ["number"] }] }];
  expect((await find({})).names).toBe("zyx");
  expect((await find({ all: [{ any: [{ firstOf: tag("k"), operator: "!=", texts: ["y"] }] }] })).names).toBe("zx");
  const first = await find({ orders: numbers, limit: 2 });
  expect(first.names).toBe("xy");
  expect(await find({ orders: numbers, limit: 2, cursor: first.nextCursor })).toEqual({ names: "z", nextCursor: "" });
  const { projects } = await fixture.client.listProjects({ limit: 1 }, own);
  await fixture.client.deleteProject({ projectId: projects[0]!.id }, own);
  expect([(await find({})).names, (await find({ view: "deleted" })).names]).toEqual(["zy", "x"]);
});

describe("refused as bad_request:", () => {
  const condition = (one: Condition): Query => ({ all: [{ any: [one] }] });
  test.each<[what: string, query: Query]>([
    ["an unknown field", condition({ firstOf: [{ of: "field", path: ["toString"] }], operator: "=", texts: ["x"] })],
    ["another document", condition({ firstOf: [{ of: "lifecycle", path: ["x"] }], operator: "=", texts: ["x"] })],
    ["no operand", condition({ operator: "=", texts: ["x"] })],
    ["a number and a text", condition({ firstOf: [...loss, ...config("lr")], operator: "=", number: 1 })],
    ["an operator that numbers do not have", condition({ firstOf: loss, operator: "like", texts: ["1"] })],
    [
      "a path that is too deep",
      condition({ firstOf: [{ of: "config", path: Array(9).fill("x") }], operator: "is null" }),
    ],
    ["201 conditions", { all: Array.from({ length: 201 }, () => ({ any: [] })) }],
    ["21 orders", { orders: Array.from({ length: 21 }, () => ({ firstOf: loss })) }],
    ["another view", { view: "x" }],
    ["1,001 runs a page", { limit: 1001 }],
    ["a foreign cursor", { cursor: "x" }],
  ])("%s", async (_, query) => {
    expect(await failure(page(query))).toMatchObject({ reason: "bad_request" });
  });

  test("the cursor of another order, and 1,001 projects", async () => {
    const { found } = await page({ limit: 1 });
    const { cursor } = found[0]!;
    expect(await failure(page({ cursor, orders: [{ firstOf: loss }] }))).toMatchObject({
      reason: "bad_request",
      field: "cursor",
    });
    const many = Array.from({ length: 1001 }, (_, i) => BigInt(i));
    expect(await failure(page({}, many))).toMatchObject({ reason: "bad_request", field: "project_numbers" });
  });
});
