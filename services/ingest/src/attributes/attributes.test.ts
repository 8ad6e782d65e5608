import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Attribute } from "@tidemark/proto/ingest/v1/ingest";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  runId = await ingest.newRun(tenant);
});

type Item = { path?: string; type?: string; step?: number; loggedAt?: string; value?: string; summary?: string };
const inputOf = ({ value = "1", summary = "{}", ...item }: Item) => ({
  path: "config/lr",
  type: "config",
  ...item,
  valueJson: Buffer.from(value),
  summaryJson: Buffer.from(summary),
});
const write = (...items: Item[]) =>
  ingest.write.appendAttributes({ runId, attributes: items.map(inputOf) }, callOf(tenant));

type Query = { type?: string; pathPrefix?: string; limit?: number; offset?: number };
const list = async (query: Query = {}): Promise<Attribute[]> =>
  (await ingest.read.listAttributes({ runId, limit: 1000, ...query }, callOf(tenant))).attributes;
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe("a write of attributes", () => {
  test("answers with the rows in the order sent, as the next read shows them", async () => {
    const { attributes } = await write(
      { path: "b", step: 2.5, loggedAt: "2026-01-05T10:00:00.123456Z", value: '{"x":[1,null]}', summary: '{"s":1}' },
      { path: "a", type: "tag", value: '"t"' },
    );
    expect(attributes).toMatchObject([
      { orgId: tenant.orgId, runId, path: "b", type: "config", step: 2.5, loggedAt: "2026-01-05T10:00:00.123456Z" },
      { orgId: tenant.orgId, runId, path: "a", type: "tag" },
    ]);
    expect(attributes[1]!.step).toBeUndefined();
    expect(attributes[1]!.loggedAt).toBe(attributes[1]!.createdAt);
    expect(attributes.map((row) => text(row.valueJson))).toEqual(['{"x":[1,null]}', '"t"']);
    expect(text(attributes[0]!.summaryJson)).toBe('{"s":1}');
    expect(await list()).toEqual([attributes[1], attributes[0]]);
  });

  test("adds a row for a path that was logged before", async () => {
    for (const value of ["1", "2"]) await write({ value });
    expect((await list()).map((row) => text(row.valueJson))).toEqual(["1", "2"]);
  });

  test.each(["null", "false", '""', "[]", "12345678901234567890123456789", "0.10", "1e-7", '{"b":1,"a":2}'])(
    "keeps the value %s to the letter",
    async (value) => {
      await write({ value });
      expect(text((await list())[0]!.valueJson)).toBe(value);
    },
  );

  test("of no attributes stores nothing", async () => {
    expect(await write()).toMatchObject({ attributes: [] });
    expect(await list()).toEqual([]);
  });

  test("stores all or none", async () => {
    await expect(write({ path: "good" }, { path: "bad", value: "{" })).rejects.toMatchObject({ code: "22P02" });
    expect(await list()).toEqual([]);
  });

  test("gives out ids below 2^53 that ascend and are unique in the organization", async () => {
    const writers = [ingest.writer(), ingest.writer(), ingest.writer()];
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        writers[i % 3]!.appendAttributes({ runId, attributes: [inputOf({}), inputOf({})] }, callOf(tenant)),
      ),
    );
    const ids = answers.flatMap(({ attributes }) => attributes.map(({ id }) => id));
    expect(new Set(ids).size).toBe(60);
    expect(ids.every((id) => Number.isSafeInteger(id) && id > 0)).toBe(true);
    expect(answers.every(({ attributes }) => attributes[1]!.id === attributes[0]!.id + 1)).toBe(true);
  });

  test("asks for other ids when its first ones are taken, also by another run", async () => {
    const firsts = [1, 1, 2];
    const writer = ingest.writer({ take: () => firsts.shift()! });
    const other = await ingest.newRun(tenant);
    await writer.appendAttributes({ runId: other, attributes: [inputOf({})] }, callOf(tenant));
    const { attributes } = await writer.appendAttributes({ runId, attributes: [inputOf({})] }, callOf(tenant));
    expect(attributes[0]!.id).toBe(2);
  });

  test("continues after the run has finished", async () => {
    await ingest.finishRun(runId);
    expect((await write({})).attributes).toHaveLength(1);
  });
});

describe("a list of attributes", () => {
  test("is sorted by step, those without one first, then by arrival", async () => {
    await write(
      { path: "s2", step: 2 },
      { path: "n1" },
      { path: "s1", step: 1 },
      { path: "s2b", step: 2 },
      { path: "n2" },
    );
    expect((await list()).map(({ path }) => path)).toEqual(["n1", "n2", "s1", "s2", "s2b"]);
  });

  test("can be of one type, exactly", async () => {
    await write({ path: "a" }, { path: "b", type: "tag" }, { path: "c", type: "file_series" });
    expect((await list({ type: "tag" })).map(({ path }) => path)).toEqual(["b"]);
    expect(await list({ type: "file" })).toEqual([]);
  });

  test("can be of paths with a prefix, taken literally", async () => {
    await write({ path: "config/lr" }, { path: "config%lr" }, { path: "conf" }, { path: "x/config/" });
    expect((await list({ pathPrefix: "config/" })).map(({ path }) => path)).toEqual(["config/lr"]);
    expect((await list({ pathPrefix: "config%" })).map(({ path }) => path)).toEqual(["config%lr"]);
    expect(await list({ pathPrefix: "%" })).toEqual([]);
  });

  test("is returned in pages", async () => {
    await write(...["a", "b", "c", "d", "e"].map((path) => ({ path })));
    expect((await list({ limit: 2 })).map(({ path }) => path)).toEqual(["a", "b"]);
    expect((await list({ limit: 2, offset: 4 })).map(({ path }) => path)).toEqual(["e"]);
    expect(await list({ offset: 2 ** 53 - 1 })).toEqual([]);
  });

  test("holds attributes of its run only", async () => {
    const other = await ingest.newRun(tenant);
    await ingest.write.appendAttributes({ runId: other, attributes: [inputOf({})] }, callOf(tenant));
    expect(await list()).toEqual([]);
  });
});

test.each([
  ["does not exist", () => randomUUID()],
  ["has an id that is not a UUID", () => "x"],
  ["is another organization's", async () => ingest.newRun(await ingest.newTenant())],
  ["lies in another project", async () => ingest.newRun(tenant, await ingest.newProject(tenant.orgId))],
])("a run that %s is not found, by reads and by writes, even with other faults", async (_, idOf) => {
  const hidden = await idOf();
  const call = callOf(tenant, tenant.projectId);
  const notFound = { reason: "not_found", message: "run not found" };
  const bodies = [
    { attributes: [inputOf({})] },
    { attributes: [] },
    { bodyFault: { text: "path is required", field: "path" } },
  ];
  for (const body of bodies) {
    await expect(ingest.write.appendAttributes({ runId: hidden, ...body }, call)).rejects.toMatchObject(notFound);
  }
  for (const query of [{ limit: 1 }, { queryFault: { text: "no", field: "limit" } }]) {
    await expect(ingest.read.listAttributes({ runId: hidden, ...query }, call)).rejects.toMatchObject(notFound);
  }
});
