import { randomUUID } from "node:crypto";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createDb, migrate, plannedSql, platformMigrations, type Db, type MigrationSet } from "@tidemark/pg";
import type { DisplayStatus, RunStatus, StopState } from "@tidemark/run-state";
import { createTestDatabase, testServerUrl } from "@tidemark/testkit";
import { filterOf, found, summarize, type Filter } from "../list/list-pages.fixture.ts";
import { move } from "../list/stored-runs.fixture.ts";
import { indexSortValues } from "../metrics/aggregates.fixture.ts";
import { runsMigrations } from "../module.ts";
import {
  artifactsMigrations,
  asOwner,
  callAs,
  ingestMigrations,
  startRuns,
  type RunsFixture,
} from "../runs.fixture.ts";

// One file, because all cases share one migrated database.

// A filled database from before searches is migrated by an owner who is under row level security, as
// the owners of hosted databases are.
const owner = `tidemark_test_owner_${randomUUID().slice(0, 8)}`;
const scratch: string[] = [];
let fixture: RunsFixture;

/** A set of which only the files up to a number are there. */
async function upTo({ schema, directory }: MigrationSet, last: string): Promise<MigrationSet> {
  const part = await mkdtemp(join(tmpdir(), "tidemark-migrations-"));
  scratch.push(part);
  const files = (await readdir(directory)).filter((file) => file.slice(0, 4) <= last);
  await Promise.all(files.map((file) => copyFile(join(directory, file), join(part, file))));
  return { schema, directory: part };
}

/** As the superuser of the server. */
async function withDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = createDb({ url, role: new URL(url).username, application: "test", connectionsMax: 1 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

function run<Row>(db: Db, statement: string, values: readonly unknown[] = []): Promise<Row[]> {
  return db.rows<Row>(plannedSql("test", statement), values);
}

const [first, second] = [callAs(), callAs()];

type Old = {
  name: string;
  orgId: string;
  project: string;
  status: RunStatus;
  stop: StopState;
  shown: DisplayStatus;
  id: string;
  tags: string[];
  config: string;
  metadata: string;
};
const shownOf = (status: RunStatus, stop: StopState): DisplayStatus => {
  if (status === "running") return stop === "requested" || stop === "acknowledged" ? "stopping" : "running";
  return stop === "completed" ? "stopped" : status;
};
const states = (["running", "finished", "failed"] as const).flatMap((status) =>
  (["none", "requested", "acknowledged", "completed", "terminal_without_completion"] as const).map(
    (stop) => [status, stop] as const,
  ),
);
/** Runs in every state, twice as many in one project as in the other; the second organization has less of them. */
const old: Old[] = states.flatMap(([status, stop], n) =>
  [
    { orgId: first.orgId, project: "Alpha" },
    { orgId: first.orgId, project: "Alpha" },
    { orgId: first.orgId, project: "beta" },
    ...(n % 2 === 0 ? [{ orgId: second.orgId, project: "Alpha" }] : []),
  ].map((owner, k) => ({
    ...owner,
    name: `${status} ${stop} ${k}`,
    status,
    stop,
    shown: shownOf(status, stop),
    id: randomUUID(),
    tags: k === 0 ? ["Old Tag", `n${n}`] : [],
    config: k === 0 ? '{"LR":0.1,"seed":12345678901234567890}' : "{}",
    metadata: k === 0 ? '{"comment":"c\\u0000d","notes":"Remember \\ud800 this"}' : "{}",
  })),
);

async function fill(db: Db): Promise<void> {
  await run(
    db,
    `INSERT INTO runs.projects (org_id, id, name, runs_running, runs_finished, runs_failed)
     SELECT "orgId", gen_random_uuid(), project, count(*) FILTER (WHERE status = 'running'),
            count(*) FILTER (WHERE status = 'finished'), count(*) FILTER (WHERE status = 'failed')
     FROM json_to_recordset($1) AS r ("orgId" uuid, project text, status text) GROUP BY 1, 3`,
    [JSON.stringify(old)],
  );
  await run(
    db,
    `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                            finished_at, stop_state, stop_request_id)
     SELECT r."orgId", r.id, p.id, r.name, r.status, r.config, r.tags, r.metadata, now(), now(),
            CASE WHEN r.status <> 'running' THEN now() END, r.stop, CASE WHEN r.stop <> 'none' THEN r.id END
     FROM json_to_recordset($1) AS r ("orgId" uuid, id uuid, project text, name text, status text, config text,
                                      tags text[], metadata text, stop text)
     JOIN runs.projects p ON p.org_id = r."orgId" AND p.name = r.project`,
    [JSON.stringify(old)],
  );
  // Of every second run two metrics.
  await run(
    db,
    `INSERT INTO ingest.metric_heads (org_id, run_id, key, minimise, count, mean, m2, min, min_step, max, max_step,
                                      latest, latest_step, latest_id, first_step)
     SELECT org_id, id, k.key, k.key = 'loss', 5, 1, 0, 0.5, 1, 2, 1, 1, 1, 1, 0
     FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM runs.runs) r, unnest(ARRAY['loss', 'score']) AS k (key)
     WHERE n % 2 = 0`,
  );
}

beforeAll(async () => {
  // Makes the roles, in case this is the first database of its server.
  const database = await createTestDatabase();
  await database.drop();
  const name = `tidemark_test_${randomUUID().replaceAll("-", "")}`;
  const url = new URL(testServerUrl());
  await withDatabase(url.href, async (db) => {
    const rows = await run<{ role: string }>(
      db,
      "SELECT rolname AS role FROM pg_roles WHERE rolname LIKE 'tidemark\\_%' AND NOT rolcanlogin",
    );
    await run(db, `CREATE ROLE ${owner} LOGIN CREATEROLE NOSUPERUSER NOBYPASSRLS INHERIT`);
    await run(db, `GRANT ${rows.map(({ role }) => role).join(", ")} TO ${owner}`);
    await run(db, `CREATE DATABASE ${name} OWNER ${owner}`);
  });
  url.pathname = `/${name}`;
  const asMigrator = new URL(url);
  asMigrator.searchParams.set("options", `-c role=${owner}`);
  await migrate(asMigrator.href, [
    platformMigrations,
    await upTo(runsMigrations, "0004"),
    await upTo(ingestMigrations, "0003"),
  ]);
  await withDatabase(url.href, fill);
  await migrate(asMigrator.href, [platformMigrations, runsMigrations, ingestMigrations, artifactsMigrations]);
  fixture = await startRuns({
    url: url.href,
    drop: () =>
      withDatabase(testServerUrl(), async (db) => {
        await run(db, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
        await run(db, `DROP ROLE ${owner}`);
      }),
  });
});
afterAll(async () => {
  await fixture.close();
  await Promise.all(scratch.map((directory) => rm(directory, { recursive: true })));
});

const namesOf = (orgId: string, passes: (run: Old) => boolean = () => true): string[] =>
  old
    .filter((run) => run.orgId === orgId && passes(run))
    .map(({ name }) => name)
    .toSorted();

test("the database belongs to somebody whom row level security holds", async () => {
  const [row] = await asOwner<Record<string, unknown>>(
    fixture,
    `SELECT pg_get_userbyid(c.relowner) = $1 AS owner, r.rolsuper, r.rolbypassrls
     FROM pg_class c JOIN pg_roles r ON r.rolname = $1 WHERE c.oid = 'runs.runs'::regclass`,
    [owner],
  );
  expect(row).toEqual({ owner: true, rolsuper: false, rolbypassrls: false });
});

test("rows are fenced from their owners again", async () => {
  const rows = await asOwner<{ name: string; fenced: boolean; forced: boolean }>(
    fixture,
    `SELECT oid::regclass::text AS name, relrowsecurity AS fenced, relforcerowsecurity AS forced FROM pg_class
     WHERE relkind IN ('r', 'p') AND relnamespace IN ('runs'::regnamespace, 'ingest'::regnamespace)`,
  );
  expect(rows.length).toBeGreaterThan(6);
  expect(rows.filter(({ fenced }) => !fenced)).toEqual([]);
  // Its owner is a role that no request runs as, and that searches read it as.
  expect(rows.filter(({ forced }) => !forced).map(({ name }) => name)).toEqual(["runs.run_texts"]);
});

describe("runs of before", () => {
  test("are found by every term", async () => {
    const searches: [q: string, finds: (run: Old) => boolean][] = [
      ['tag:"old tag"', ({ tags }) => tags.length > 0],
      ["tag:n7", ({ tags }) => tags.includes("n7")],
      ["project:alpha", ({ project }) => project === "Alpha"],
      ["beta", ({ project }) => project === "beta"],
      ["config:lr", ({ tags }) => tags.length > 0],
      ["config:12345678901234567890", ({ tags }) => tags.length > 0],
      ["notes:remember", ({ tags }) => tags.length > 0],
      ['notes:"remember \u{FFFD} this c\u{FFFD}d"', ({ tags }) => tags.length > 0],
      ["name:acknowledged", ({ stop }) => stop === "acknowledged"],
      ["terminal_without", ({ stop }) => stop === "terminal_without_completion"],
      ...(["running", "stopping", "stopped", "finished", "failed"] as const).map(
        (shown): [string, (run: Old) => boolean] => [`status:${shown}`, (run) => run.shown === shown],
      ),
      ["stopping", ({ shown }) => shown === "stopping"],
      ["-status:running", ({ shown }) => shown !== "running"],
    ];
    for (const call of [first, second]) {
      for (const [q, finds] of searches)
        expect([q, await found(fixture, call, q)]).toEqual([q, namesOf(call.orgId, finds)]);
      const some = old.find(({ orgId }) => orgId === call.orgId)!;
      expect(await found(fixture, call, `id:${some.id}`)).toEqual([some.name]);
    }
  });

  test("have the texts that a run which is made now has", async () => {
    const texts = `SELECT t.run_id AS id, replace(t.summary, t.run_id::text, '*') AS summary, t.status, t.display_status,
                          t.irregular, t.name, t.tags, t.notes, t.config, t.metadata FROM runs.run_texts t`;
    const copy = `
      WITH copies AS (SELECT r.*, gen_random_uuid() AS copy FROM runs.runs r), made AS (
        INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                               finished_at, stop_state, stop_request_id)
        SELECT org_id, copy, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at,
               stop_state, stop_request_id FROM copies
      )
      SELECT id, copy FROM copies`;
    const undone = new Error("undone");
    const trying = fixture.owner.transaction(async (tx) => {
      const before = await tx.rows<{ id: string }>(plannedSql("test_before", texts), []);
      expect(before).toHaveLength(old.length);
      const copies = await tx.rows<{ id: string; copy: string }>(plannedSql("test_copy", copy), []);
      const after = new Map(
        (await tx.rows<{ id: string }>(plannedSql("test_after", texts), [])).map((row) => [row.id, row]),
      );
      expect(copies.map((run) => ({ ...after.get(run.copy), id: run.id }))).toEqual(
        copies.map((run) => before.find(({ id }) => id === run.id)),
      );
      throw undone;
    });
    await expect(trying).rejects.toBe(undone);
  });

  test("are counted by every filter on their states", async () => {
    for (const call of [first, second]) {
      for (const project of [undefined, "Alpha", "beta"]) {
        for (const status of [undefined, "running", "finished", "failed"]) {
          for (const displayStatus of [undefined, "running", "stopping", "stopped", "finished", "failed"]) {
            const filter: Filter = {
              ...(project === undefined ? {} : { project }),
              ...(status === undefined ? {} : { status }),
              ...(displayStatus === undefined ? {} : { displayStatus }),
            };
            const expected = namesOf(
              call.orgId,
              (run) =>
                (project === undefined || run.project === project) &&
                (status === undefined || run.status === status) &&
                (displayStatus === undefined || run.shown === displayStatus),
            );
            const { total } = await summarize(fixture, call, { ...filter, limit: 1, selection: true });
            expect({ filter, total }).toEqual({ filter, total: expected.length });
          }
        }
      }
    }
  });

  test("sort by their metrics and count their values, before and after they are indexed", async () => {
    const measured = await asOwner<{ id: string; orgId: string }>(
      fixture,
      `SELECT DISTINCT run_id AS id, org_id AS "orgId" FROM ingest.metric_keys`,
    );
    const unindexed = await asOwner<{ id: string; touched_minute: number }>(
      fixture,
      "SELECT run_id AS id, touched_minute FROM ingest.unindexed_runs",
    );
    expect(unindexed.map(({ id }) => id).toSorted()).toEqual(measured.map(({ id }) => id).toSorted());
    // Long ago, so that they are indexed immediately.
    expect(unindexed.every(({ touched_minute: minute }) => minute === 0)).toBe(true);
    const look = async () => {
      const answers = [];
      for (const call of [first, second]) {
        const own = measured.filter(({ orgId }) => orgId === call.orgId);
        const { ids } = await summarize(fixture, call, { sort: "metric-best", metricKey: "loss" });
        expect(ids.slice(0, own.length).toSorted()).toEqual(own.map(({ id }) => id).toSorted());
        const overview = await fixture.client.getOverview({ filter: filterOf({}), metricKey: "loss" }, call);
        expect(overview).toMatchObject({ bestValue: 0.5, metricPoints: BigInt(own.length * 10) });
        answers.push(ids);
      }
      return answers;
    };
    const before = await look();
    await asOwner(fixture, "UPDATE ingest.unindexed_runs SET touched_minute = 1");
    for (const { id, orgId } of measured) await indexSortValues(fixture, orgId, [id]);
    expect(await look()).toEqual(before);
  });

  test("keep the counters right when they change state, down to none", async () => {
    for (const { id, orgId } of old) await move(fixture, orgId, id, [["running", "none"]]);
    const counters = await asOwner<Record<string, number>>(
      fixture,
      `SELECT sum(runs_stopping)::integer AS stopping, sum(runs_finished_stopped)::integer AS finished_stopped,
              sum(runs_failed_stopped)::integer AS failed_stopped, sum(runs_running)::integer AS running,
              sum(runs_finished + runs_failed)::integer AS ended FROM runs.projects`,
    );
    expect(counters).toEqual([{ stopping: 0, finished_stopped: 0, failed_stopped: 0, running: old.length, ended: 0 }]);
    expect(await found(fixture, second, "status:running")).toEqual(namesOf(second.orgId));
  });
});

test("migrating again changes nothing", async () => {
  expect(
    await migrate(fixture.url, [platformMigrations, runsMigrations, ingestMigrations, artifactsMigrations]),
  ).toEqual({ applied: [] });
});
