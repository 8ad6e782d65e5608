import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { hostedPlans } from "@tidemark/limits";
import { createCall } from "@tidemark/rpc";
import { RunCopyState } from "@tidemark/proto/runs/v1/runs";
import { putAggregate } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { copyParts, keepProgress, lockCopies, type RunCopy } from "./run-copies.sql.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Call = ReturnType<typeof callAs>;

const order = { sortBy: "created" };
const FIRST = { after: "00000000-0000-0000-0000-000000000000", rowsMax: 1, seconds: 60 };

async function makeRuns(call: Call, count: number, project: string): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await makeRun(fixture.client, call, { project })).id);
  return ids;
}

const found = async (call: Call, project: string, q = ""): Promise<string[]> => {
  const { runs } = await fixture.client.listRuns({ filter: { project, q }, order, limit: 1000 }, call);
  return runs.map(({ run }) => run!.id).toSorted();
};

const pending = ({ orgId }: Call) =>
  asOwner(fixture, "SELECT run_id AS id FROM runs.run_copies WHERE org_id = $1", [orgId]);

async function projectOf({ orgId }: Call, name: string): Promise<string> {
  const values = [orgId, name];
  const rows = await asOwner<{ id: string }>(
    fixture,
    "SELECT id FROM runs.projects WHERE org_id = $1 AND name = $2",
    values,
  );
  return rows[0]!.id;
}

/** Requests a copy as a process does that ends before it copies anything. */
async function requestOnly(call: Call, runId: string, project: string): Promise<string> {
  const id = randomUUID();
  await asOwner(fixture, "INSERT INTO runs.run_ids (org_id, id) VALUES ($1, $2)", [call.orgId, id]);
  await asOwner(
    fixture,
    "INSERT INTO runs.run_copies (org_id, run_id, source_id, project_id) VALUES ($1, $2, $3, $4)",
    [call.orgId, id, runId, await projectOf(call, project)],
  );
  return id;
}

test("copies are runs of their own, with texts and counters, under the ids that a repeated key gets again", async () => {
  const call = callAs();
  const [second, first] = await makeRuns(call, 2, "from");
  await fixture.client.updateRun({ runId: second!, status: "finished" }, call);
  await putAggregate(fixture, call.orgId, first!, "loss", { latest: 1, count: 5 });
  const models = [randomUUID(), randomUUID()];
  const datasets = [{ name: "train", digest: "1", source: "s3://data", tags: { context: "training" } }];
  await fixture.client.addRunInputs({ runId: first!, datasets, modelIds: [models[0]!] }, call);
  await fixture.client.addRunOutputs({ runId: first!, models: [{ modelId: models[1]!, step: 7n }] }, call);
  const request = { runIds: [first!, second!], project: "to", idempotencyKey: randomUUID() };
  const answer = await fixture.client.copyRuns(request, call);
  const copies = answer.results.flatMap((result) => result.copies);
  expect(answer).toMatchObject({ matched: 2, updated: 2, failed: 0, copying: 0, replayed: false });
  expect(copies.map(({ runId, state }) => [runId, state])).toEqual([
    [first, RunCopyState.COPIED],
    [second, RunCopyState.COPIED],
  ]);
  const ids = copies.map(({ copyId }) => copyId);
  const { runs: inputs } = await fixture.client.listRunInputs({ runIds: [first!, ids[0]!] }, call);
  expect(inputs[0]!.datasets).toHaveLength(1);
  expect(inputs[1]).toEqual({ ...inputs[0]!, runId: ids[0]! });
  expect(await found(call, "to")).toEqual(ids.toSorted());
  expect(await found(call, "to", "to")).toEqual(ids.toSorted());
  expect(await found(call, "from")).toEqual([first!, second!].toSorted());
  const counters = await asOwner(
    fixture,
    `SELECT p.name, p.runs_running, p.runs_finished,
            (SELECT sum(o.points)::int FROM ingest.project_points o WHERE o.org_id = p.org_id AND o.project_id = p.id) AS points
     FROM runs.projects p WHERE p.org_id = $1 ORDER BY p.name`,
    [call.orgId],
  );
  expect(counters).toEqual([
    { name: "from", runs_running: 1, runs_finished: 1, points: 5 },
    { name: "to", runs_running: 1, runs_finished: 1, points: 5 },
  ]);
  // Also when the source is gone.
  await fixture.client.deleteRun({ runId: first! }, call);
  await fixture.client.deleteRun({ runId: ids[1]! }, call);
  const again = await fixture.client.copyRuns(request, call);
  expect(again.replayed).toBe(true);
  expect(again.results.flatMap((result) => result.copies.map(({ copyId, state }) => [copyId, state]))).toEqual([
    [ids[0], RunCopyState.COPIED],
    [ids[1], RunCopyState.GONE],
  ]);
});

test("what does not fit into the plan is refused before anything is made", async () => {
  const call = callAs();
  const [id] = await makeRuns(call, 1, "from");
  await putAggregate(fixture, call.orgId, id!, "loss", { latest: 1, count: 7 });
  const admitted: [string, number][] = [];
  const gate = (name: string, full = "") => ({
    admit: async (_: unknown, amount: number): Promise<void> => {
      if (name === full) throw new AppError("plan_limit_exceeded", "full");
      admitted.push([name, amount]);
    },
  });
  const within = (full?: string) =>
    fixture.within(gate("storage", full), { pointGate: gate("points", full), eventGate: gate("events", full) });
  for (const full of ["points", "storage"]) {
    const refused = failure(within(full).copyRuns({ runIds: [id!], project: "to", idempotencyKey: full }, call));
    expect(await refused).toMatchObject({ reason: "plan_limit_exceeded" });
  }
  const projects = await asOwner(fixture, "SELECT name FROM runs.projects WHERE org_id = $1", [call.orgId]);
  expect([projects, await pending(call)]).toEqual([[{ name: "from" }], []]);
  admitted.length = 0;
  const [row] = await asOwner<{ bytes: number }>(fixture, "SELECT bytes FROM runs.runs WHERE id = $1", [id]);
  const answer = await within().copyRuns({ runIds: [id!], project: "to", idempotencyKey: "points" }, call);
  expect(answer).toMatchObject({ updated: 1 });
  expect(admitted).toEqual([
    ["points", 7],
    ["storage", row!.bytes + 1024 + 256 + 7 * 16],
  ]);
  // 499 runs, all of which wait to be copied, are one short of what the plan has.
  const projectId = await projectOf(call, "to");
  await asOwner(
    fixture,
    `INSERT INTO runs.run_copies (org_id, run_id, source_id, project_id, due_at)
     SELECT $1, gen_random_uuid(), $2, $3, 'infinity' FROM generate_series(1, $4::integer)`,
    [call.orgId, id, projectId, hostedPlans.free.runs - 2],
  );
  const beyond = fixture.limited.copyRuns(
    { runIds: [id!], project: "to" },
    { ...call, identity: { ...call.identity!, planTier: "free" } },
  );
  expect(await failure(beyond)).toMatchObject({ reason: "plan_limit_exceeded" });
  await asOwner(fixture, "DELETE FROM runs.run_copies WHERE org_id = $1", [call.orgId]);
});

test("hundreds that were not reached are copied with the same key, and the others not again", async () => {
  const call = callAs();
  await makeRuns(call, 101, "from");
  const request = { filter: { project: "from" }, order, project: "to", idempotencyKey: randomUUID() };
  const late = { ...createCall({ identity: call.identity!, timeoutMs: 1400 }), orgId: call.orgId };
  const cut = await fixture.client.copyRuns(request, late);
  expect(cut).toMatchObject({ updated: 0, failed: 101, results: [{ error: "not_reached" }, { error: "not_reached" }] });
  const answer = await fixture.client.copyRuns(request, call);
  expect(answer).toMatchObject({ matched: 101, updated: 101, failed: 0, replayed: false });
  await fixture.runCopier.round();
  expect(await found(call, "to")).toHaveLength(101);
  expect(await fixture.client.copyRuns(request, call)).toMatchObject({ updated: 101, replayed: true });
  expect(await found(call, "to")).toHaveLength(101);
  const other = failure(fixture.client.copyRuns({ ...request, project: "other" }, call));
  expect(await other).toMatchObject({ reason: "idempotency_key_reused" });
});

test("one run that is not there fails its hundred, and a dry run makes nothing", async () => {
  const call = callAs();
  const [id, gone] = await makeRuns(call, 2, "from");
  await fixture.client.deleteRun({ runId: gone! }, call);
  const failed = {
    matched: 2,
    updated: 0,
    failed: 2,
    results: [{ ok: false, error: "not_found_or_unauthorized", copies: [] }],
  };
  for (const dryRun of [true, false]) {
    expect(await fixture.client.copyRuns({ runIds: [id!, gone!], project: "from", dryRun }, call)).toMatchObject(
      failed,
    );
  }
  const dry = await fixture.client.copyRuns({ runIds: [id!], project: "from", dryRun: true }, call);
  expect(dry).toMatchObject({ matched: 1, updated: 0, failed: 0, results: [{ ok: true, copies: [] }] });
  expect(await found(call, "from")).toEqual([id]);
});

/** Gives a run more of everything than is copied together. */
async function fill(call: Call, runId: string, projectId: string): Promise<void> {
  const row = [call.orgId, runId, projectId];
  for (const statement of [
    `INSERT INTO ingest.attributes (org_id, id, run_id, path, type, logged_at, value, summary, created_at)
     SELECT $1, (random() * 1e12)::bigint * 8192 + n, $2, 'p' || n % 7, 'config', now(), to_json(n), '{}', now() FROM generate_series(1, 5001) n WHERE $3::uuid IS NOT NULL`,
    `WITH made AS (
       INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, value, metadata, summary, bytes, created_at)
       SELECT $1, (random() * 1e12)::bigint * 8192 + n, $2, $3, 'k', 'table', false, '{}', '{}', '{}', 7, now() FROM generate_series(1, 201) n
       RETURNING id
     ) INSERT INTO ingest.table_chunks (org_id, object_id, chunk, rows, bytes) SELECT $1, id, c, '\\x00', 5 FROM made, generate_series(0, 1) c`,
    `WITH bytes AS (
       INSERT INTO artifacts.objects (org_id, id, state, size_bytes, sha256, refs) VALUES ($1, gen_random_uuid(), 'stored', 3, sha256($2::uuid::text::bytea), 501)
       RETURNING id
     ) INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, size_bytes, mime_type, storage_backend, object_id, metadata)
     SELECT $1, gen_random_uuid(), $2, $3, 'file', 'n', 'u', 3, 'm', 'local', bytes.id, '{}' FROM bytes, generate_series(1, 501)`,
    `WITH made AS (
       INSERT INTO traces.traces (org_id, trace_id, run_id, project_id, version, segments, started_us, updated_us, status, kinds, root_name, thread_id,
         rollout_id, summary)
       SELECT $1, gen_random_uuid(), $2, $3, 1, 2, n / 3, 1, 1, 2, '', '', '', '\\x0100000000000000000182000000000000008201'::bytea FROM generate_series(1, 101) n
       RETURNING trace_id
     ) INSERT INTO traces.segments (org_id, trace_id, run_id, id, tree, payloads, bytes) SELECT $1, trace_id, $2, s, '', '', 4 FROM made, generate_series(1, 2) s`,
  ])
    await asOwner(fixture, statement, row);
}

/** What there is of a run, apart from its ids. */
const contents = ({ orgId }: Call, runId: string) =>
  asOwner(
    fixture,
    `SELECT (SELECT md5(string_agg(path || value, ',' ORDER BY id)) FROM ingest.attributes WHERE org_id = $1 AND run_id = $2) AS attributes,
            (SELECT count(*) FROM ingest.objects WHERE org_id = $1 AND run_id = $2) AS objects,
            (SELECT count(*) FROM ingest.table_chunks c JOIN ingest.objects o ON o.org_id = $1 AND o.id = c.object_id WHERE c.org_id = $1 AND o.run_id = $2) AS chunks,
            (SELECT count(*) FROM artifacts.artifacts WHERE org_id = $1 AND run_id = $2) AS artifacts,
            (SELECT count(*) FROM traces.traces WHERE org_id = $1 AND run_id = $2) AS traces,
            (SELECT count(*) FROM traces.segments WHERE org_id = $1 AND run_id = $2) AS segments`,
    [orgId, runId],
  );

test("a copy that a process left is made by another one, with nothing lost or doubled, and each span counts", async () => {
  const call = callAs();
  const [id] = await makeRuns(call, 1, "p");
  await fill(call, id!, await projectOf(call, "p"));
  const copyId = await requestOnly(call, id!, "p");
  const parts: (string | undefined)[] = [];
  for (let i = 0; i < 3; i++) {
    await fixture.db.withTenant(call.orgId, async (tx) => {
      const [copy] = (await lockCopies(tx, call.orgId, FIRST)) as [RunCopy];
      const progress = await copyParts(tx, call.orgId, copy);
      await keepProgress(tx, call.orgId, { ...copy, ...progress });
      parts.push(
        [progress.ingest, progress.artifacts].map((state) => (state === null ? "" : JSON.parse(state).part)).join(" "),
      );
    });
  }
  expect(parts).toEqual(["attributes ", "objects ", "done artifacts"]);
  // What is there is shown nowhere yet.
  expect(await found(call, "p")).toEqual([id]);
  expect(await failure(fixture.client.getRun({ runId: copyId }, call))).toMatchObject({ reason: "not_found" });
  await fixture.runCopier.round();
  expect(await found(call, "p")).toEqual([id!, copyId].toSorted());
  expect(await contents(call, copyId)).toEqual(await contents(call, id!));
  const counters = await asOwner(
    fixture,
    `SELECT (SELECT refs FROM artifacts.objects WHERE org_id = $1) AS refs, (SELECT sum(events) FROM traces.event_counts WHERE org_id = $1)::int AS events,
            (SELECT files FROM artifacts.run_counts WHERE org_id = $1 AND run_id = $2) AS files`,
    [call.orgId, copyId],
  );
  expect(counters).toEqual([{ refs: 1002, events: 101 * 130, files: 501 }]);
});

test.each(["the source", "the project"])(
  "a copy ends, and what was copied is removed, when %s is deleted",
  async (what) => {
    const call = callAs();
    const [id] = await makeRuns(call, 1, "from");
    await makeRuns(call, 1, "to");
    const projectId = await projectOf(call, "to");
    await fill(call, id!, projectId);
    const copyId = await requestOnly(call, id!, "to");
    await fixture.db.withTenant(call.orgId, async (tx) => {
      const [copy] = (await lockCopies(tx, call.orgId, FIRST)) as [RunCopy];
      await keepProgress(tx, call.orgId, { ...copy, ...(await copyParts(tx, call.orgId, copy)) });
    });
    if (what === "the source") await fixture.client.deleteRun({ runId: id! }, call);
    else await fixture.client.deleteProject({ projectId }, call);
    await fixture.runCopier.round();
    const removals = await asOwner(fixture, "SELECT kind, id FROM platform.removals WHERE org_id = $1", [call.orgId]);
    expect([await pending(call), removals]).toEqual([[], [{ kind: "run", id: copyId }]]);
  },
);

test("a step that fails again and again is given up in the end", async () => {
  const call = callAs();
  const [id] = await makeRuns(call, 1, "p");
  const copyId = await requestOnly(call, id!, "p");
  // Its first part fails on this row.
  await asOwner(fixture, "INSERT INTO ingest.rank_metric_runs (org_id, run_id, sets) VALUES ($1, $2, 0), ($1, $3, 0)", [
    call.orgId,
    id,
    copyId,
  ]);
  const rows = () =>
    asOwner<{ failures: number }>(
      fixture,
      "UPDATE runs.run_copies SET due_at = now() WHERE org_id = $1 RETURNING failures",
      [call.orgId],
    );
  await fixture.runCopier.round();
  expect(await rows()).toMatchObject([{ failures: 1 }]);
  await asOwner(fixture, "UPDATE runs.run_copies SET failures = 8 WHERE org_id = $1", [call.orgId]);
  await fixture.runCopier.round();
  expect(await pending(call)).toEqual([]);
});
