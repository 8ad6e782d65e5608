import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { insertAggregates, putAggregate } from "../metrics/ingested.fixture.ts";
import { listRunsById } from "../read/runs.sql.ts";
import { asOwner, callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { listMetricColumns, listNewestAttributes } from "./compare-runs.sql.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Call = ReturnType<typeof callAs>;
type Request = Omit<Parameters<RunsFixture["client"]["compareRuns"]>[0], "$typeName">;
type Row = { path: string; values: (string | number | null)[]; different: boolean };

const ask = (call: Call, request: Request) => fixture.client.compareRuns(request, call);

/** The rows of a comparison; texts unchanged, no value as null. */
async function rowsOf(call: Call, request: Request): Promise<{ rows: Row[]; truncated: boolean }> {
  const { runs, blocks, truncated } = await ask(call, request);
  const rows = blocks.flatMap(({ paths, different, valuesJson, numbers }) =>
    paths.map((path, i) => ({
      path,
      values: [
        ...valuesJson.slice(i * runs.length, (i + 1) * runs.length).map((value) => (value === "" ? null : value)),
        ...numbers.slice(i * runs.length, (i + 1) * runs.length).map((value) => (Number.isNaN(value) ? null : value)),
      ],
      different: different[i] === true,
    })),
  );
  return { rows, truncated };
}

let attributeId = 0;
/** Gives a run attributes, one row after the other. */
async function putAttributes(orgId: string, runId: string, values: readonly [string, string][]): Promise<void> {
  const first = attributeId + 1;
  attributeId += values.length;
  await asOwner(
    fixture,
    `INSERT INTO ingest.attributes (org_id, id, run_id, path, type, logged_at, value, summary, created_at)
     SELECT $1, $3::bigint + a.n - 1, $2, a.path, 'config', now(), a.value::json, '{}', now()
     FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS a (path, value, n)`,
    [orgId, runId, first, values.map(([path]) => path), values.map(([, value]) => value)],
  );
}

/** Gives a run metrics m<first> to m<last>, whose latest value is their number plus `plus`. */
async function putAggregates(orgId: string, runId: string, first: number, last: number, plus = 0): Promise<void> {
  await asOwner(
    fixture,
    insertAggregates(`SELECT $1::uuid, $2::uuid, 'm' || lpad(n::text, 6, '0'), false, 1, n, 0, n, 1, n, 1, n + $5::float8, 1, 1
                 FROM generate_series($3::integer, $4::integer) n`),
    [orgId, runId, first, last, plus],
  );
}

describe("all that is compared", () => {
  const call = callAs();
  let ids: string[] = [];
  beforeAll(async () => {
    const a = await makeRun(fixture.client, call, {
      name: "a",
      configJson: json('{"lr":0.10,"model":{"depth":2,"width":8},"seed":12345678901234567890}'),
      metadataJson: json('{"gpu":"a100","notes":"first"}'),
      tags: ["base", "x"],
    });
    const b = await makeRun(fixture.client, call, {
      name: "b",
      configJson: json('{"lr":0.1,"model":{"width":8.0,"depth":2},"seed":12345678901234567891,"extra":null}'),
      tags: ["base"],
    });
    ids = [a.id, b.id];
    await putAggregate(fixture, call.orgId, a.id, "loss", { latest: 0.5, max: 2, mean: 1, count: 3 });
    await putAggregate(fixture, call.orgId, b.id, "loss", { latest: 0.5, max: 3, mean: 1, count: 3 });
    await putAggregate(fixture, call.orgId, b.id, "val/acc", { latest: 0.9 });
    await putAttributes(call.orgId, a.id, [
      ["config/optim", '"adam"'],
      ["data", '{"rows":[1,2],"big":12345678901234567890}'],
      ["config/optim", '"sgd"'],
    ]);
    await putAttributes(call.orgId, b.id, [
      ["config/optim", '"sgd"'],
      ["z", "null"],
    ]);
  });

  const expected: Row[] = [
    { path: "attribute/config/optim", values: ['"sgd"', '"sgd"'], different: false },
    { path: "attribute/data", values: ['{"rows":[1,2],"big":12345678901234567890}', null], different: true },
    { path: "attribute/z", values: [null, "null"], different: false },
    { path: "config/extra", values: [null, "null"], different: false },
    { path: "config/lr", values: ["0.10", "0.1"], different: false },
    { path: "config/model", values: ['{"depth":2,"width":8}', '{"depth":2,"width":8.0}'], different: false },
    { path: "config/seed", values: ["12345678901234567890", "12345678901234567891"], different: true },
    { path: "metadata/gpu", values: ['"a100"', null], different: true },
    { path: "metadata/notes", values: ['"first"', null], different: true },
    { path: "metric/loss/latest", values: [0.5, 0.5], different: false },
    { path: "metric/loss/max", values: [2, 3], different: true },
    { path: "metric/loss/mean", values: [1, 1], different: false },
    { path: "metric/val/acc/latest", values: [null, 0.9], different: true },
    { path: "metric/val/acc/max", values: [null, 0.9], different: true },
    { path: "metric/val/acc/mean", values: [null, 0.9], different: true },
    { path: "tag/base", values: ["true", "true"], different: false },
    { path: "tag/x", values: ["true", null], different: true },
  ];

  test("stands in rows by path, a missing value being null", async () => {
    expect(await rowsOf(call, { runIds: ids })).toEqual({ rows: expected, truncated: false });
  });

  test("follows the order of the runs, of which none counts twice", async () => {
    const reversed = ids.toReversed();
    const { runs, referenceRunId } = await ask(call, { runIds: [...reversed, ...ids] });
    expect(runs.map(({ id }) => id)).toEqual(reversed);
    expect(referenceRunId).toBe(reversed[0]);
    const { rows } = await rowsOf(call, { runIds: reversed });
    expect(rows).toEqual(expected.map((row) => ({ ...row, values: row.values.toReversed() })));
  });

  test("has the runs as they are stored", async () => {
    const { runs } = await ask(call, { runIds: ids });
    const { run } = await fixture.client.getRun({ runId: ids[0] ?? "", metricLimit: 1 }, call);
    expect(runs[0]).toEqual(run?.run);
  });

  test("has the reference that was requested, if it is one of the runs", async () => {
    const [a = "", b = ""] = ids;
    const reference = async (referenceRunId: string) =>
      (await ask(call, { runIds: ids, referenceRunId })).referenceRunId;
    expect(await reference(b)).toBe(b);
    expect(await reference(randomUUID())).toBe(a);
    expect(await reference("nonsense")).toBe(a);
    expect(await reference("")).toBe(a);
  });
});

describe("which runs", () => {
  test.each([
    ["none", []],
    ["51", Array.from({ length: 51 }, () => randomUUID())],
    ["a text that is not an id", ["x"]],
  ])("%s is 400", async (_, runIds) => {
    expect(await failure(ask(callAs(), { runIds }))).toMatchObject({ reason: "bad_request", field: "run_ids" });
  });

  test("50 that exist can be compared, one of which named twice", async () => {
    const call = callAs();
    const ids: string[] = [];
    for (let i = 0; i < 50; i += 1) ids.push((await makeRun(fixture.client, call, { tags: [`t${i % 2}`] })).id);
    const { rows } = await rowsOf(call, { runIds: [...ids, ids[7] ?? ""] });
    expect(rows).toHaveLength(2);
    expect(rows[0]?.values.slice(0, 3)).toEqual(["true", null, "true"]);
  });

  test("one that cannot be seen fails the call", async () => {
    const wide = callAs();
    const mine = await makeRun(fixture.client, wide, { project: "mine" });
    const theirs = await makeRun(fixture.client, wide, { project: "theirs" });
    const scoped = callAs({ orgId: wide.orgId, projectId: mine.projectId });
    const missing = { reason: "not_found", message: "run not found" };
    expect(await failure(ask(wide, { runIds: [mine.id, randomUUID()] }))).toMatchObject(missing);
    expect(await failure(ask(scoped, { runIds: [mine.id, theirs.id] }))).toMatchObject(missing);
    expect(await failure(ask(callAs(), { runIds: [mine.id] }))).toMatchObject(missing);
    expect((await ask(scoped, { runIds: [mine.id] })).runs).toHaveLength(1);
    expect((await ask(wide, { runIds: [mine.id, theirs.id] })).runs).toHaveLength(2);
  });
});

describe("more than one page of", () => {
  test("metric keys is read to the end, whichever run has them", async () => {
    const call = callAs();
    const [a, b] = [await makeRun(fixture.client, call), await makeRun(fixture.client, call)];
    await putAggregates(call.orgId, a.id, 1, 4000);
    await putAggregates(call.orgId, b.id, 2001, 6000);
    // Equal where both have them, so that all the rest has to be read to find what differs.
    await asOwner(fixture, "DELETE FROM ingest.metric_keys WHERE run_id = $1 AND key < 'm001999'", [a.id]);
    await putAggregates(call.orgId, b.id, 1999, 2000, 0.5);
    const { rows, truncated } = await rowsOf(call, { runIds: [a.id, b.id], diffOnly: true });
    expect(truncated).toBe(true);
    expect(rows).toHaveLength(5000);
    expect(rows.slice(0, 3)).toEqual([
      { path: "metric/m001999/latest", values: [1999, 1999.5], different: true },
      { path: "metric/m002000/latest", values: [2000, 2000.5], different: true },
      { path: "metric/m004001/latest", values: [null, 4001], different: true },
    ]);
    expect(rows.at(-1)?.path).toBe("metric/m005666/mean");
  });

  test("attributes is read to the end, older rows of a path jumped over", async () => {
    const call = callAs();
    const [a, b] = [await makeRun(fixture.client, call), await makeRun(fixture.client, call)];
    const path = (i: number) => `p${String(i).padStart(5, "0")}`;
    const lines = Array.from({ length: 400 }, (_, i): [string, string] => ["p00500/console", String(i)]);
    const all = Array.from({ length: 1500 }, (_, i): [string, string] => [path(i), String(i)]);
    await putAttributes(call.orgId, a.id, [...lines, ...all]);
    await putAttributes(call.orgId, b.id, all.slice(700).toReversed());
    await putAttributes(call.orgId, b.id, [["p99999", "1"]]);
    const { rows, truncated } = await rowsOf(call, { runIds: [a.id, b.id] });
    expect(truncated).toBe(false);
    expect(rows).toHaveLength(1502);
    expect(rows.map((row) => row.path)).toEqual(rows.map((row) => row.path).toSorted());
    expect(rows.find((row) => row.path === "attribute/p00500/console")?.values).toEqual(["399", null]);
    expect(rows.find((row) => row.path === "attribute/p01499")).toMatchObject({ values: ["1499", "1499"] });
    expect(rows.filter(({ different }) => different)).toHaveLength(702);
  });
});

describe("values that are too large for one comparison", () => {
  test("end the rows before them", async () => {
    const call = callAs();
    const runs = [];
    for (let i = 0; i < 10; i += 1) runs.push(await makeRun(fixture.client, call, { tags: ["t"] }));
    const ids = runs.map(({ id }) => id);
    const large = (letter: string) => `"${letter.repeat(4_000_000)}"`;
    for (const id of ids)
      await putAttributes(call.orgId, id, [
        ["a", "1"],
        ["big", large("x")],
        ["c", "2"],
      ]);
    const { rows, truncated } = await rowsOf(call, { runIds: ids });
    expect(rows.map(({ path }) => path)).toEqual(["attribute/a"]);
    expect(truncated).toBe(true);
    const few = await rowsOf(call, { runIds: ids.slice(0, 3) });
    expect(few.rows.map(({ path }) => path)).toEqual(["attribute/a", "attribute/big", "attribute/c", "tag/t"]);
    expect(few.truncated).toBe(false);
  });
});

test("nothing of another organization is read, with any ids", async () => {
  const [one, two] = [callAs(), callAs()];
  const run = await makeRun(fixture.client, one);
  await putAggregate(fixture, one.orgId, run.id, "secret", { latest: 1 });
  await putAttributes(one.orgId, run.id, [["secret", "1"]]);
  // As the service's role in the other's organization, by the statements that the comparison uses.
  const page = { after: "", rowsEach: 10, bytesEach: 1000, bytesAll: 1000 };
  for (const named of [one.orgId, two.orgId]) {
    const seen = await fixture.db.withTenant(two.orgId, async (tx) => [
      (await listMetricColumns(tx, named, [run.id], { after: "", limit: 10 })).flatMap(({ keys }) => keys),
      await listNewestAttributes(tx, named, [run.id], page),
      await listRunsById(tx, named, [run.id], undefined),
    ]);
    expect(seen).toEqual([[], [], []]);
  }
});
