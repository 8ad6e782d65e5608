import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { MODELS } from "@tidemark/limits";
import type { ConditionSchema, OrderSchema } from "@tidemark/proto/artifacts/v1/query";
import { type ArtifactsFixture, callOf, startArtifacts, type Tenant } from "../artifacts.fixture.ts";

let fixture: ArtifactsFixture;
let tenant: Tenant;
let otherProject: string;
let runId: string;
const ids = new Map<string, string>();

beforeAll(async () => {
  fixture = await startArtifacts();
  tenant = await fixture.newTenant();
  otherProject = await fixture.newProject(tenant.orgId);
  runId = await fixture.newRun(tenant);
  const call = callOf(tenant);
  const make = async (name: string, fields: object, losses: readonly [number, string][]) => {
    const { model } = await fixture.models.createModel({ projectId: tenant.projectId, name, ...fields }, call);
    const modelId = model!.id;
    ids.set(name, modelId);
    const points = losses.map(([value, datasetName]) => ({ modelId, metric: { key: "loss", value, datasetName } }));
    if (points.length > 0) await fixture.models.logModelMetrics({ runId, points }, call);
  };
  await make("a", { tags: { stage: "one", "is.prompt": "true" }, params: { lr: "0.1" }, sourceRunId: runId }, [
    [1, ""],
    [5, "eval"],
  ]);
  await make("b%", { tags: { stage: "two" }, type: "torch" }, [[Number.NaN, ""]]);
  await make("c", { params: { lr: "1" } }, [[-3, ""]]);
  await make("D_", { projectId: otherProject }, [[Infinity, ""]]);
  await make("e\\x", {}, []);
});
afterAll(() => fixture.close());

type Search = {
  readonly conditions?: readonly MessageInitShape<typeof ConditionSchema>[];
  readonly orders?: readonly MessageInitShape<typeof OrderSchema>[];
  readonly datasets?: readonly { name: string; digest?: string }[];
  readonly projectIds?: readonly string[];
};

async function search(
  { conditions = [], orders = [], datasets = [], projectIds = [tenant.projectId, otherProject] }: Search,
  limit = 100,
) {
  const asked = {
    projectIds: [...projectIds],
    conditions: [...conditions],
    orders: [...orders],
    datasets: [...datasets],
    limit,
  };
  const names: string[] = [];
  for (let cursor = ""; ;) {
    const page = await fixture.models.searchModels({ ...asked, cursor }, callOf(tenant));
    names.push(...page.models.map(({ name }) => name));
    if (page.nextCursor === "") return names;
    cursor = page.nextCursor;
  }
}

test("all models of the projects are found, the newest first, also page by page", async () => {
  const all = ["e\\x", "D_", "c", "b%", "a"];
  expect(await search({})).toEqual(all);
  expect(await search({}, 2)).toEqual(all);
  expect(await search({ projectIds: [otherProject, otherProject] }, 1)).toEqual(["D_"]);
  expect(await search({ projectIds: [] })).toEqual([]);
  const bound = callOf(tenant, { projectId: otherProject });
  const { models } = await fixture.models.searchModels(
    { projectIds: [tenant.projectId, otherProject], limit: 9 },
    bound,
  );
  expect(models.map(({ name }) => name)).toEqual(["D_"]);
});

const field = (key: string, operator: string, ...texts: string[]) => ({ of: "field", key, operator, texts });
const metric = (operator: string, number: number) => ({ of: "metric", key: "loss", operator, number });

describe("a condition", () => {
  const all = ["D_", "a", "b%", "c", "e\\x"];
  test.each<[string, Search["conditions"], string[]]>([
    ["name =", [field("name", "=", "a")], ["a"]],
    ["name !=", [field("name", "!=", "a")], ["D_", "b%", "c", "e\\x"]],
    ["name like with %", [field("name", "like", "b%")], ["b%"]],
    ["name like with _", [field("name", "like", "_")], ["a", "c"]],
    ["name like minds case", [field("name", "like", "d_")], []],
    ["name ilike", [field("name", "ilike", "d_")], ["D_"]],
    ["name like with a backslash", [field("name", "like", "e\\x")], ["e\\x"]],
    ["name in", [field("name", "in", "a", "c", "z")], ["a", "c"]],
    ["name not in", [field("name", "not in", "a", "c")], ["D_", "b%", "e\\x"]],
    ["type =", [field("type", "=", "torch")], ["b%"]],
    ["status =", [field("status", "=", "pending")], all],
    ["two conditions", [field("name", "!=", "a"), { of: "param", key: "lr", operator: "=", texts: ["1"] }], ["c"]],
    [
      "tag !=, which a missing tag does not match",
      [{ of: "tag", key: "stage", operator: "!=", texts: ["two"] }],
      ["a"],
    ],
    [
      "a missing tag that may be missing",
      [{ of: "tag", key: "is.prompt", operator: "!=", texts: ["true"], orMissing: true }],
      ["D_", "b%", "c", "e\\x"],
    ],
    ["tag is null", [{ of: "tag", key: "stage", operator: "is null" }], ["D_", "c", "e\\x"]],
    ["tag is not null", [{ of: "tag", key: "stage", operator: "is not null" }], ["a", "b%"]],
    ["metric >", [metric(">", 0)], ["D_", "a"]],
    ["metric <, which NaN is not", [metric("<", 100)], ["a", "c"]],
    ["metric !=, which NaN is", [metric("!=", 1)], ["D_", "a", "b%", "c"]],
    ["metric = NaN, which NaN is not", [metric("=", Number.NaN)], []],
    ["created_at >=", [{ of: "field", key: "created_at", operator: ">=", number: 0 }], all],
    ["created_at in the future", [{ of: "field", key: "created_at", operator: ">", number: 1e15 }], []],
  ])("%s", async (_what, conditions, expected) => {
    expect((await search({ conditions: conditions! })).toSorted()).toEqual(expected);
  });

  test("on ids", async () => {
    const id = ids.get("a")!;
    expect(await search({ conditions: [field("id", "=", id)] })).toEqual(["a"]);
    expect(await search({ conditions: [field("id", "in", id, "no id")] })).toEqual(["a"]);
    expect(await search({ conditions: [field("id", "!=", id)] })).toHaveLength(4);
    expect(await search({ conditions: [field("source_run_id", "=", runId)] })).toEqual(["a"]);
    expect(await search({ conditions: [field("source_run_id", "not in", id)] })).toEqual(["a"]);
  });

  test("on metrics of a dataset", async () => {
    const conditions = [metric(">", 2)];
    expect(await search({ conditions, datasets: [{ name: "eval" }] })).toEqual(["a"]);
    expect(await search({ conditions, datasets: [{ name: "eval", digest: "other" }] })).toEqual([]);
    expect(await search({ conditions, datasets: [{ name: "test" }, { name: "eval" }] })).toEqual(["a"]);
  });
});

test.each<[string, Search["orders"], string[]]>([
  ["name", [{ of: "field", key: "name" }], ["D_", "a", "b%", "c", "e\\x"]],
  ["name, descending", [{ of: "field", key: "name", descending: true }], ["e\\x", "c", "b%", "a", "D_"]],
  [
    "metric: NaN, then missing ones last",
    [{ of: "metric", key: "loss", dataset: { name: "" } }],
    ["c", "a", "D_", "b%", "e\\x"],
  ],
  [
    "metric, descending",
    [{ of: "metric", key: "loss", descending: true, dataset: { name: "" } }],
    ["D_", "a", "c", "b%", "e\\x"],
  ],
  [
    "metric of a dataset, then newest first",
    [{ of: "metric", key: "loss", dataset: { name: "eval" } }],
    ["a", "e\\x", "D_", "c", "b%"],
  ],
  [
    "tag, then name",
    [
      { of: "tag", key: "stage", descending: true },
      { of: "field", key: "name" },
    ],
    ["b%", "a", "D_", "c", "e\\x"],
  ],
  ["created_at", [{ of: "field", key: "created_at" }], ["a", "b%", "c", "D_", "e\\x"]],
  ["run", [{ of: "field", key: "source_run_id" }], ["a", "e\\x", "D_", "c", "b%"]],
])("sorted by %s, in one page and in many", async (_what, orders, expected) => {
  expect(await search({ orders: orders! })).toEqual(expected);
  expect(await search({ orders: orders! }, 1)).toEqual(expected);
});

describe("a refused search is 400", () => {
  test.each<[string, Search]>([
    ["an unknown field", { conditions: [field("color", "=", "a")] }],
    ["an inherited field", { conditions: [field("constructor", "=", "a")] }],
    ["an unknown kind", { conditions: [{ of: "note", key: "a", operator: "=", texts: ["a"] }] }],
    ["a number for a text", { conditions: [{ of: "field", key: "name", operator: "=", number: 1 }] }],
    ["a text for a number", { conditions: [{ of: "metric", key: "a", operator: "=", texts: ["1"] }] }],
    ["like for a number", { conditions: [{ of: "metric", key: "a", operator: "like", number: 1 }] }],
    ["< for a text", { conditions: [field("name", "<", "a")] }],
    ["like for an id", { conditions: [field("id", "like", "a")] }],
    ["two texts", { conditions: [field("name", "=", "a", "b")] }],
    ["NUL", { conditions: [field("name", "=", "a\0")] }],
    ["an unknown order", { orders: [{ of: "field", key: "color" }] }],
    ["too many projects", { projectIds: Array.from({ length: MODELS.projectsMax + 1 }, () => "x") }],
  ])("%s", async (_what, asked) => {
    await expect(search(asked)).rejects.toMatchObject({ reason: "bad_request" });
  });

  test.each([[0], [MODELS.pageMax + 1]])("%i models a page", async (limit) => {
    await expect(search({}, limit)).rejects.toMatchObject({ reason: "bad_request" });
  });

  test("a cursor of another order, and a text that is none", async () => {
    const asked = { projectIds: [tenant.projectId], limit: 1 };
    const { nextCursor } = await fixture.models.searchModels(asked, callOf(tenant));
    const orders = [{ of: "field", key: "name" }];
    for (const wrong of [{ cursor: nextCursor, orders }, { cursor: "foreign" }]) {
      await expect(fixture.models.searchModels({ ...asked, ...wrong }, callOf(tenant))).rejects.toMatchObject({
        reason: "bad_request",
        field: "cursor",
      });
    }
  });
});
