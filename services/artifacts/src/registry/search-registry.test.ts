import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { REGISTRY } from "@tidemark/limits";
import type { ConditionSchema, OrderSchema } from "@tidemark/proto/artifacts/v1/query";
import { type ArtifactsFixture, callOf, startArtifacts, type Tenant } from "../artifacts.fixture.ts";

let fixture: ArtifactsFixture;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  fixture = await startArtifacts();
  tenant = await fixture.newTenant();
  runId = await fixture.newRun(tenant);
  const call = callOf(tenant);
  const text = "x".repeat(700_000);
  for (const [name, tags] of [
    ["b", { kind: "prompt" }],
    ["A", {}],
    ["c", { kind: "model" }],
  ] as const) {
    await fixture.registry.createRegisteredModel({ name, tags }, call);
  }
  await fixture.registry.createRegisteredVersion({ name: "b", source: "s3://x", tags: { text } }, call);
  await fixture.registry.createRegisteredVersion({ name: "A", source: "y", runId }, call);
  await fixture.registry.createRegisteredVersion({ name: "b", source: "z", tags: { a: "1" } }, call);
  await fixture.registry.updateRegisteredVersion({ name: "A", number: 1, description: "changed last" }, call);
});
afterAll(() => fixture.close());

type Asked = {
  readonly conditions?: readonly MessageInitShape<typeof ConditionSchema>[];
  readonly orders?: readonly MessageInitShape<typeof OrderSchema>[];
};
const field = (key: string, operator: string, ...texts: string[]) => ({ of: "field", key, operator, texts });
const by = (key: string, descending = false) => ({ of: "field", key, descending });

async function all<Page extends { readonly nextCursor: string }, Item>(
  read: (cursor: string) => Promise<Page>,
  itemsOf: (page: Page) => Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor = ""; ;) {
    const page = await read(cursor);
    items.push(...itemsOf(page));
    if (page.nextCursor === "") return items;
    cursor = page.nextCursor;
  }
}

const models = ({ conditions = [], orders = [] }: Asked, limit = 100) =>
  all(
    (cursor) =>
      fixture.registry.searchRegisteredModels(
        { conditions: [...conditions], orders: [...orders], limit, cursor },
        callOf(tenant),
      ),
    (page) => page.models.map(({ name }) => name),
  );
const versions = ({ conditions = [], orders = [] }: Asked, limit = 100) =>
  all(
    (cursor) =>
      fixture.registry.searchRegisteredVersions(
        { conditions: [...conditions], orders: [...orders], limit, cursor },
        callOf(tenant),
      ),
    (page) => page.versions.map(({ name, number }) => `${name}${number}`),
  );

test.each<[string, Asked, string[]]>([
  ["all, by name", {}, ["A", "b", "c"]],
  ["name", { conditions: [field("name", "=", "b")] }, ["b"]],
  ["name ilike", { conditions: [field("name", "ilike", "a%")] }, ["A"]],
  ["tag !=", { conditions: [{ of: "tag", key: "kind", operator: "!=", texts: ["prompt"] }] }, ["c"]],
  [
    "tag != or missing",
    { conditions: [{ of: "tag", key: "kind", operator: "!=", texts: ["prompt"], orMissing: true }] },
    ["A", "c"],
  ],
  ["by name, descending", { orders: [by("name", true)] }, ["c", "b", "A"]],
  ["last changed first", { orders: [by("updated_at", true)] }, ["A", "b", "c"]],
  ["first made first", { orders: [by("created_at")] }, ["b", "A", "c"]],
])("registered models: %s, in one page and in many", async (_what, asked, expected) => {
  expect(await models(asked)).toEqual(expected);
  expect(await models(asked, 1)).toEqual(expected);
});

test.each<[string, Asked, string[]]>([
  ["all, the last changed first", {}, ["A1", "b2", "b1"]],
  ["name", { conditions: [field("name", "=", "b")] }, ["b2", "b1"]],
  ["source", { conditions: [field("source", "like", "s3:%")] }, ["b1"]],
  ["number", { conditions: [{ of: "field", key: "number", operator: ">", number: 1 }] }, ["b2"]],
  ["tag", { conditions: [{ of: "tag", key: "a", operator: "=", texts: ["1"] }] }, ["b2"]],
  ["by name, then number", { orders: [by("name"), by("number", true)] }, ["A1", "b2", "b1"]],
  ["by number", { orders: [by("number"), by("name")] }, ["A1", "b1", "b2"]],
  ["by creation", { orders: [by("created_at")] }, ["b1", "A1", "b2"]],
  ["by change", { orders: [by("updated_at")] }, ["b1", "b2", "A1"]],
])("versions: %s, in one page and in many", async (_what, asked, expected) => {
  expect(await versions(asked)).toEqual(expected);
  expect(await versions(asked, 1)).toEqual(expected);
});

test("versions of runs", async () => {
  expect(await versions({ conditions: [field("run_id", "=", runId)] })).toEqual(["A1"]);
  expect(await versions({ conditions: [field("run_id", "in", runId, "none")] })).toEqual(["A1"]);
});

test("a page ends early where texts are long", async () => {
  const call = callOf(tenant);
  const own = await fixture.newTenant();
  const tags = { text: "x".repeat(1_000_000) };
  for (let i = 0; i < 9; i += 1) {
    await fixture.registry.createRegisteredModel({ name: `m${i}`, tags }, callOf(own));
    await fixture.registry.createRegisteredVersion({ name: `m${i}`, source: "s", tags }, callOf(own));
  }
  const page = await fixture.registry.searchRegisteredModels({ limit: 100 }, callOf(own));
  expect([page.models.length, page.nextCursor === ""]).toEqual([8, false]);
  const rest = await fixture.registry.searchRegisteredModels({ limit: 100, cursor: page.nextCursor }, callOf(own));
  expect(rest.models.map(({ name }) => name)).toEqual(["m8"]);
  const foreign = fixture.registry.searchRegisteredVersions({ limit: 100, cursor: page.nextCursor }, call);
  await expect(foreign).rejects.toMatchObject({ reason: "bad_request", field: "cursor" });
});

test.each([[0], [REGISTRY.pageMax + 1]])("a page of %i is 400", async (limit) => {
  await expect(models({}, limit)).rejects.toMatchObject({ reason: "bad_request" });
  await expect(versions({}, limit)).rejects.toMatchObject({ reason: "bad_request" });
});

test.each<[Asked]>([
  [{ conditions: [field("stage", "=", "none")] }],
  [{ conditions: [{ of: "metric", key: "a", operator: "=", number: 1 }] }],
  [{ conditions: [{ of: "param", key: "a", operator: "=", texts: ["1"] }] }],
  [{ orders: [by("stage")] }],
])("%j is 400", async (asked) => {
  await expect(models(asked)).rejects.toMatchObject({ reason: "bad_request" });
  await expect(versions(asked)).rejects.toMatchObject({ reason: "bad_request" });
});
