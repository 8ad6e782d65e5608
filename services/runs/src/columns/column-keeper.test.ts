import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { untilEarlierWritesEnd } from "@tidemark/testkit";
import { storedRun, storeRuns } from "../list/stored-runs.fixture.ts";
import { removeRowsOfOrganization, removeRunRow } from "../removal/removed-rows.sql.ts";
import { asOwner, callAs, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { putAttributes } from "../metrics/ingested.fixture.ts";
import { createColumnKeeper } from "./sorted-columns.ts";
import { askAnyway, fillStep, keepColumn } from "./kept-columns.fixture.ts";
import { forgetColumns, listColumnsToFill } from "./kept-columns.sql.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Caller = ReturnType<typeof callAs>;

/** Returns the names of runs by a column, those without a value in brackets. */
async function sorted(call: Caller, sortBy: string): Promise<string> {
  const order = { sortBy, metricKey: "", sortDir: "asc" };
  const { runs, columnValues } = await fixture.client.summarizeRuns({ order, limit: 100, columns: [sortBy] }, call);
  return runs.map(({ run }, i) => (columnValues[i]?.valuesJson[0] === "" ? `(${run?.name})` : run?.name)).join(" ");
}

const isReady = async (orgId: string): Promise<boolean[]> =>
  (
    await asOwner<{ ready: boolean }>(fixture, "SELECT ready FROM runs.kept_columns WHERE org_id = $1 ORDER BY path", [
      orgId,
    ])
  ).map(({ ready }) => ready);

const valuesOf = async (orgId: string): Promise<number> =>
  (await asOwner<{ n: number }>(fixture, "SELECT count(*) AS n FROM runs.kept_values WHERE org_id = $1", [orgId]))[0]!
    .n;

describe("a column that is kept", () => {
  test("follows new runs, new attributes, deletion and restoring", async () => {
    const call = callAs();
    const control = callAs({ orgId: call.orgId, scopes: ["runs:control"] });
    const make = async (name: string, config = "{}") =>
      (await makeRun(fixture.client, call, { name, configJson: json(config) })).id;
    const [a, b] = [await make("a", '{"x":{"y":2}}'), await make("b")];
    await fixture.client.deleteRun({ runId: a }, control);
    await keepColumn(fixture, call.orgId, "config.x.y");
    expect(await sorted(call, "config.x.y")).toBe("(b)");
    await fixture.client.undeleteRun({ runId: a }, control);
    expect(await sorted(call, "config.x.y")).toBe("a (b)");
    await make("c", '{"x.y":1}');
    await make("d", '{"x":{"y":[]}}');
    expect(await sorted(call, "config.x.y")).toBe("c a d (b)");
    await putAttributes(fixture, call.orgId, b, [
      ["config/x/y", "5"],
      ["config/x/y", "0"],
      ["other", "1"],
    ]);
    expect(await sorted(call, "config.x.y")).toBe("b c a d");
    await putAttributes(fixture, call.orgId, b, [["config/x.y", "3"]]);
    await putAttributes(fixture, call.orgId, b, [["config/x/y", "0"]]);
    await putAttributes(fixture, call.orgId, a, [["config/x/y", "0"]]);
    expect(await sorted(call, "config.x.y")).toBe("c a b d");
    await fixture.client.deleteRun({ runId: a }, control);
    expect(await sorted(call, "config.x.y")).toBe("c b d");
  });

  test("is kept of configs that hold NUL or half a surrogate pair", async () => {
    const call = callAs();
    const make = (name: string, x: string) =>
      makeRun(fixture.client, call, { name, configJson: json(String.raw`{"t":"\\u0000 \u0000\ud800","x":${x}}`) });
    await make("a", "2");
    expect(await sorted(call, "config.x")).toBe("a");
    await keepColumn(fixture, call.orgId, "config.x");
    await make("b", "1");
    await make("c", String.raw`"\u0000"`);
    expect(await sorted(call, "config.x")).toBe("b a c");
    const { runs } = await fixture.client.listRuns(
      { filter: { q: "config.x>1" }, order: { sortBy: "created" }, limit: 10 },
      call,
    );
    expect(runs.map(({ run }) => run!.name)).toEqual(["a"]);
  });

  test("takes the attribute with the highest id, in any order of arrival", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, { name: "a" });
    await makeRun(fixture.client, call, { name: "b", configJson: json('{"x":5}') });
    await keepColumn(fixture, call.orgId, "config.x");
    const put = (attribute: number, value: string) =>
      asOwner(
        fixture,
        `INSERT INTO ingest.attributes (org_id, id, run_id, path, type, logged_at, value, summary, created_at)
         SELECT set_config('app.org_id', $1::text, false)::uuid, $2, $3, 'config/x', 'config', now(), $4::json, '{}', now()`,
        [call.orgId, attribute, id, value],
      );
    await put(1_000_000_002, "9");
    await put(1_000_000_001, "1");
    expect(await sorted(call, "config.x")).toBe("b a");
    await put(1_000_000_003, "null");
    expect(await sorted(call, "config.x")).toBe("b (a)");
  });

  test("is not used before all runs have their values, and is exact while they get them", async () => {
    const call = callAs();
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1)
      ids.push((await makeRun(fixture.client, call, { name: `r${n}`, configJson: json(`{"x":${n}}`) })).id);
    const id = (await askAnyway(fixture, call.orgId, "config.x"))!;
    expect(await fillStep(fixture, call.orgId, id, 2)).toBe("waiting");
    await untilEarlierWritesEnd(fixture.owner);
    expect(await fillStep(fixture, call.orgId, id, 2)).toBe("more");
    expect(await isReady(call.orgId)).toEqual([false]);
    expect(await sorted(call, "config.x")).toBe("r0 r1 r2 r3 r4 r5");
    await makeRun(fixture.client, call, { name: "new", configJson: json('{"x":2.5}') });
    await makeRun(fixture.client, call, { name: "none" });
    while ((await fillStep(fixture, call.orgId, id, 2)) !== "done");
    expect(await isReady(call.orgId)).toEqual([true]);
    expect(await sorted(call, "config.x")).toBe("r0 r1 r2 new r3 r4 r5 (none)");
  });

  test("waits for transactions that began before it was requested", async () => {
    const call = callAs();
    await makeRun(fixture.client, call, { name: "a", configJson: json('{"x":1}') });
    let id = "";
    await fixture.owner.transaction(async (tx) => {
      await tx.rows({ name: "test_take_number", text: "SELECT pg_current_xact_id()" }, []);
      id = (await askAnyway(fixture, call.orgId, "config.x"))!;
      for (let i = 0; i < 3; i += 1) expect(await fillStep(fixture, call.orgId, id, 10)).toBe("waiting");
    });
    await untilEarlierWritesEnd(fixture.owner);
    expect(await fillStep(fixture, call.orgId, id, 10)).toBe("done");
  });

  test("is removed with its runs and its organization", async () => {
    const call = callAs();
    const [a] = [
      await makeRun(fixture.client, call, { configJson: json('{"x":1}') }),
      await makeRun(fixture.client, call, { configJson: json('{"x":1}') }),
    ];
    await keepColumn(fixture, call.orgId, "config.x");
    expect(await valuesOf(call.orgId)).toBe(2);
    await fixture.owner.transaction(async (tx) => removeRunRow(tx, call.orgId, a.id));
    expect(await valuesOf(call.orgId)).toBe(1);
    await removeRowsOfOrganization(fixture.owner, call.orgId);
    expect([await valuesOf(call.orgId), await isReady(call.orgId)]).toEqual([0, []]);
  });

  test("is forgotten after seven days without a request for it", async () => {
    const call = callAs();
    await makeRun(fixture.client, call, { configJson: json('{"x":1}') });
    for (const path of ["config.x", "config.y"]) await keepColumn(fixture, call.orgId, path);
    await asOwner(fixture, "UPDATE runs.kept_columns SET asked_at = now() - interval '8 days' WHERE path = 'x'");
    await forgetColumns(fixture.db);
    expect([await valuesOf(call.orgId), await isReady(call.orgId)]).toEqual([0, [true]]);
  });
});

describe("a keeper", () => {
  const by = (path: string) => ({ sort: "column", column: { kind: "config", path }, direction: "asc" }) as const;

  /** A keeper whose asks can be awaited. */
  function started() {
    const begun: string[] = [];
    const keeper = createColumnKeeper({
      db: fixture.db,
      begin: () => void begun.push("round"),
      onFailed: (error) => {
        throw error;
      },
    });
    return { keeper, begun };
  }
  const until = async (is: () => Promise<boolean> | boolean): Promise<void> => {
    while (!(await is())) await new Promise(setImmediate);
  };
  const paths = async (orgId: string): Promise<string[]> =>
    (
      await asOwner<{ path: string }>(fixture, "SELECT path FROM runs.kept_columns WHERE org_id = $1 ORDER BY path", [
        orgId,
      ])
    ).map(({ path }) => path);

  test("keeps what tables of organizations with a thousand runs are sorted by, 16 columns at most", async () => {
    const { orgId } = callAs();
    await storeRuns(
      fixture,
      orgId,
      Array.from({ length: 1000 }, (_, n) => storedRun({ name: `run ${n}` })),
    );
    const { keeper, begun } = started();
    keeper.ask(orgId, { sort: "created", metricKey: "" });
    keeper.ask(orgId, { sort: "column", column: { kind: "metrics", key: "a", figure: "mean" }, direction: "asc" });
    for (let n = 10; n < 26; n += 1) keeper.ask(orgId, by(`c${n}`));
    await until(() => begun.length === 16);
    keeper.ask(orgId, by("c10"));
    const others = started();
    others.keeper.ask(orgId, by("c99"));
    await keeper.round();
    await untilEarlierWritesEnd(fixture.owner);
    await keeper.round();
    expect((await listColumnsToFill(fixture.db)).filter((column) => column.orgId === orgId)).toEqual([]);
    expect(await paths(orgId)).toHaveLength(16);
    expect((await isReady(orgId)).every((ready) => ready)).toBe(true);
    await asOwner(
      fixture,
      "UPDATE runs.kept_columns SET asked_at = now() - interval '2 hours' WHERE org_id = $1 AND path = 'c12'",
      [orgId],
    );
    const later = started();
    later.keeper.ask(orgId, by("c98"));
    await until(() => later.begun.length === 1);
    expect(await paths(orgId)).not.toContain("c12");
    expect(await paths(orgId)).toContain("c98");
    keeper.stop();
    later.keeper.stop();
  });

  test("keeps nothing of smaller organizations", async () => {
    const { orgId } = callAs();
    await storeRuns(
      fixture,
      orgId,
      Array.from({ length: 999 }, (_, n) => storedRun({ name: `run ${n}` })),
    );
    const { keeper, begun } = started();
    keeper.ask(orgId, by("a"));
    await keeper.round();
    expect([await paths(orgId), begun]).toEqual([[], []]);
    keeper.stop();
  });
});
