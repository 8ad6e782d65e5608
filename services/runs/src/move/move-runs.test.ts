import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { testSql, until } from "@tidemark/testkit";
import { createCall } from "@tidemark/rpc";
import { putAggregate } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Call = ReturnType<typeof callAs>;

async function makeRuns(call: Call, count: number, project: string): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await makeRun(fixture.client, call, { project })).id);
  return ids;
}

/** Counters of each project, and the same counted over all rows. */
async function counters({ orgId }: Call): Promise<{ kept: unknown; counted: unknown }> {
  const kept = await asOwner(
    fixture,
    `SELECT p.name, p.runs_running, p.runs_finished, p.runs_failed,
            (SELECT coalesce(sum(o.points), 0) FROM ingest.project_points o WHERE o.org_id = p.org_id AND o.project_id = p.id)::float8 AS points
     FROM runs.projects p WHERE p.org_id = $1 ORDER BY p.name`,
    [orgId],
  );
  const counted = await asOwner(
    fixture,
    `SELECT p.name, count(r.id) FILTER (WHERE r.status = 'running') AS runs_running, count(r.id) FILTER (WHERE r.status = 'finished') AS runs_finished,
            count(r.id) FILTER (WHERE r.status = 'failed') AS runs_failed, coalesce(sum(m.point_count), 0)::float8 AS points
     FROM runs.projects p LEFT JOIN runs.runs r ON r.org_id = p.org_id AND r.project_id = p.id
     LEFT JOIN ingest.metric_runs m ON m.org_id = r.org_id AND m.run_id = r.id
     WHERE p.org_id = $1 GROUP BY p.name ORDER BY p.name`,
    [orgId],
  );
  return { kept, counted };
}

const order = { sortBy: "created" };

const found = async (call: Call, project: string, q = ""): Promise<string[]> => {
  const { runs } = await fixture.client.listRuns({ filter: { project, q }, order, limit: 1000 }, call);
  return runs.map(({ run }) => run!.id).toSorted();
};

test("runs move with counters, points and searched texts, and a moved run stays when moved again", async () => {
  const call = callAs();
  // Lists begin with the newest.
  const [third, second, first] = await makeRuns(call, 3, "from");
  await fixture.client.updateRun({ runId: second!, status: "finished" }, call);
  await putAggregate(fixture, call.orgId, first!, "loss", { latest: 1, count: 5 });
  const dry = await fixture.client.moveRuns({ runIds: [first!], project: "to", dryRun: true }, call);
  expect(dry).toMatchObject({ matched: 1, updated: 0, failed: 0 });
  expect(await found(call, "to")).toEqual([]);
  const request = { filter: { project: "from" }, order, limit: 2, project: "to" };
  expect(await fixture.client.moveRuns(request, call)).toMatchObject({ matched: 2, updated: 2, failed: 0 });
  expect(await found(call, "to")).toEqual([first!, second!].toSorted());
  expect(await found(call, "to", "to")).toEqual([first!, second!].toSorted());
  expect(await found(call, "from")).toEqual([third]);
  const { kept, counted } = await counters(call);
  expect(kept).toEqual(counted);
  expect(kept).toEqual([
    { name: "from", runs_running: 1, runs_finished: 0, runs_failed: 0, points: 0 },
    { name: "to", runs_running: 1, runs_finished: 1, runs_failed: 0, points: 5 },
  ]);
  expect(await fixture.client.moveRuns({ runIds: [first!], project: "to" }, call)).toMatchObject({ updated: 1 });
  expect((await counters(call)).kept).toEqual(kept);
});

test("what other services keep of a run follows it, also what a write that began before stores after", async () => {
  const call = callAs();
  const { orgId } = call;
  const [id] = await makeRuns(call, 1, "from");
  const [from] = await asOwner<{ id: string }>(fixture, "SELECT id FROM runs.projects WHERE org_id = $1", [orgId]);
  const put = async (): Promise<void> => {
    const row = [orgId, id, from!.id];
    await asOwner(
      fixture,
      `INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, bytes, created_at)
       VALUES ($1, (random() * 1e9)::bigint, $2, $3, 'k', 'text', true, 1, now())`,
      row,
    );
    await asOwner(
      fixture,
      `INSERT INTO artifacts.edges (org_id, id, run_id, version_id, direction, project_id)
       VALUES ($1, gen_random_uuid(), $2, gen_random_uuid(), 'input', $3)`,
      row,
    );
    await asOwner(
      fixture,
      `INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, mime_type, storage_backend, metadata)
       VALUES ($1, gen_random_uuid(), $2, $3, 'file', 'n', 'u', 'm', 'external', '{}')`,
      row,
    );
    await asOwner(
      fixture,
      `INSERT INTO traces.traces (org_id, trace_id, run_id, project_id, version, segments, started_us, updated_us, status, kinds, min_step,
         root_name, thread_id, rollout_id, summary)
       VALUES ($1, gen_random_uuid(), $2, $3, 1, 1, 60000001, 1, 1, 2, 7, '', '', '', '')`,
      row,
    );
    await asOwner(
      fixture,
      `INSERT INTO imports.imported_runs (org_id, project_id, identity, run_id)
       VALUES ($1, $3, uuid_send(gen_random_uuid()), $2)`,
      row,
    );
  };
  const places = () =>
    asOwner(
      fixture,
      `SELECT k.kind, p.name, count(*) FROM (
         SELECT 'object' AS kind, org_id, project_id FROM ingest.objects UNION ALL SELECT 'edge', org_id, project_id FROM artifacts.edges
         UNION ALL SELECT 'artifact', org_id, project_id FROM artifacts.artifacts UNION ALL SELECT 'trace', org_id, project_id FROM traces.traces
         UNION ALL SELECT 'import', org_id, project_id FROM imports.imported_runs
       ) k JOIN runs.projects p ON p.org_id = k.org_id AND p.id = k.project_id WHERE k.org_id = $1 GROUP BY 1, 2 ORDER BY 1, 2`,
      [orgId],
    );
  const all = (count: number) =>
    ["artifact", "edge", "import", "object", "trace"].map((kind) => ({ kind, name: "to", count }));
  await put();
  // A transaction that is open now may belong to a write that still knows the old project.
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const open = fixture.owner.withTenant(orgId, async (tx) => {
    // Without a number it is not in a snapshot.
    await tx.rows(testSql("SELECT pg_current_xact_id()"), []);
    await promise;
  });
  await fixture.client.moveRuns({ runIds: [id!], project: "to" }, call).catch(end);
  expect(await places()).toEqual(all(1));
  const minutes = await asOwner(
    fixture,
    `SELECT m.minute, m.facets, m.min_step_low, m.min_step_high FROM traces.minutes m
     JOIN runs.projects p ON p.id = m.scope_id WHERE m.org_id = $1 AND p.name = 'to'`,
    [orgId],
  );
  expect(minutes).toEqual([{ minute: 1, facets: 2 | (1 << 17), min_step_low: 7, min_step_high: 7 }]);
  await put();
  await fixture.runFollower.round();
  expect(await places()).toEqual(all(2));
  const left = () => asOwner(fixture, "SELECT FROM runs.moved_runs WHERE org_id = $1", [orgId]);
  expect(await left()).toHaveLength(1);
  end();
  await open;
  await until("the move to be forgotten", async () => {
    await fixture.runFollower.round();
    return (await left()).length === 0;
  });
});

test("a writer of points that knew a run without any before it moved has to read it again", async () => {
  const call = callAs();
  const [id] = await makeRuns(call, 1, "from");
  await fixture.client.moveRuns({ runIds: [id!], project: "to" }, call);
  // As append_metric_group compares it: 0 stands for a run without points.
  const [run] = await asOwner<{ version: number }>(
    fixture,
    "SELECT version FROM ingest.metric_runs WHERE run_id = $1",
    [id],
  );
  expect(run!.version).toBe(1);
});

test("uploads that have begun, and bytes that an archive waits for, follow their run", async () => {
  const call = callAs();
  const { orgId } = call;
  const [id] = await makeRuns(call, 1, "from");
  const [from] = await asOwner<{ id: string }>(fixture, "SELECT id FROM runs.projects WHERE org_id = $1", [orgId]);
  const row = [orgId, id, from!.id];
  await asOwner(
    fixture,
    `INSERT INTO artifacts.upload_sessions (org_id, id, run_id, project_id, collection_id, version_id, digest, aliases, part_size_bytes, expires_at)
     VALUES ($1, gen_random_uuid(), $2, $3, gen_random_uuid(), gen_random_uuid(), sha256('a'), '{}', 1, now())`,
    row,
  );
  await asOwner(
    fixture,
    `WITH made AS (
       INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, mime_type, storage_backend, metadata)
       VALUES ($1, gen_random_uuid(), $2, $3, 'file', 'n', 'u', 'm', 'local', '{}') RETURNING id
     ) INSERT INTO artifacts.wanted_bytes (org_id, archive_id, sha256, row_id, is_entry, project_id, size_bytes)
     SELECT $1, gen_random_uuid(), sha256('a'), id, false, $3, 1 FROM made`,
    row,
  );
  await fixture.client.moveRuns({ runIds: [id!], project: "to" }, call);
  const places = await asOwner(
    fixture,
    `SELECT p.name, count(*) FROM (
       SELECT org_id, project_id FROM artifacts.upload_sessions UNION ALL SELECT org_id, project_id FROM artifacts.wanted_bytes
       UNION ALL SELECT org_id, project_id FROM artifacts.artifacts
     ) k JOIN runs.projects p ON p.org_id = k.org_id AND p.id = k.project_id WHERE k.org_id = $1 GROUP BY 1`,
    [orgId],
  );
  expect(places).toEqual([{ name: "to", count: 3 }]);
});

test("hundreds that were not reached move with the same key, and the others not again", async () => {
  const call = callAs();
  const ids = await makeRuns(call, 150, "from");
  const request = { filter: { project: "from" }, order, project: "to", idempotencyKey: randomUUID() };
  const late = { ...createCall({ identity: call.identity!, timeoutMs: 1400 }), orgId: call.orgId };
  const cut = await fixture.client.moveRuns(request, late);
  expect(cut.results.map(({ error }) => error)).toEqual(["not_reached", "not_reached"]);
  const answer = await fixture.client.moveRuns(request, call);
  expect(answer).toMatchObject({ matched: 150, updated: 150, failed: 0, replayed: false });
  expect(await found(call, "to")).toEqual(ids.toSorted());
  await fixture.client.moveRuns({ runIds: [ids[0]!], project: "elsewhere" }, call);
  expect(await fixture.client.moveRuns(request, call)).toMatchObject({ updated: 150, replayed: true });
  expect(await found(call, "elsewhere")).toEqual([ids[0]]);
  expect(await failure(fixture.client.moveRuns({ ...request, project: "other" }, call))).toMatchObject({
    reason: "idempotency_key_reused",
  });
});

test("moves of the same runs to and fro, while runs change their status, leave counters that are right", async () => {
  const call = callAs();
  const ids = await makeRuns(call, 12, "a");
  for (const id of ids.slice(0, 4)) await putAggregate(fixture, call.orgId, id, "loss", { latest: 1, count: 3 });
  const names = ["a", "b", "c"];
  await Promise.all([
    ...Array.from({ length: 9 }, (_, i) =>
      fixture.client.moveRuns({ runIds: i % 2 === 0 ? ids : ids.toReversed(), project: names[i % 3]! }, call),
    ),
    ...ids.map((runId, i) => fixture.client.updateRun({ runId, status: i % 2 === 0 ? "finished" : "failed" }, call)),
  ]);
  const { kept, counted } = await counters(call);
  expect(kept).toEqual(counted);
});

test("one run that is not there fails its hundred, and deleted runs and projects do not move", async () => {
  const call = callAs();
  const [first, second] = await makeRuns(call, 2, "from");
  await fixture.client.deleteRun({ runId: second! }, call);
  const failed = { matched: 2, updated: 0, failed: 2, results: [{ ok: false, error: "not_found_or_unauthorized" }] };
  expect(await fixture.client.moveRuns({ runIds: [first!, second!], project: "to" }, call)).toMatchObject(failed);
  expect(await fixture.client.moveRuns({ runIds: [first!, randomUUID()], project: "to" }, call)).toMatchObject(failed);
  const [home] = await asOwner<{ id: string }>(
    fixture,
    "SELECT id FROM runs.projects WHERE name = 'to' AND org_id = $1",
    [call.orgId],
  );
  const scoped = callAs({ orgId: call.orgId, projectId: home!.id });
  for (const [project, as, reason] of [
    ["to", scoped, "forbidden"],
    ["All ", call, "bad_request"],
  ] as const) {
    expect(await failure(fixture.client.moveRuns({ runIds: [first!], project }, as))).toMatchObject({ reason });
  }
  expect(await found(call, "from")).toEqual([first]);
});
