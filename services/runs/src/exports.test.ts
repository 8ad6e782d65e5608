import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createDb, type Db } from "@tidemark/pg";
import { displayStatus, RUN_STATUSES, STOP_STATES } from "@tidemark/run-state";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "./runs.fixture.ts";

// The parts of this schema that other services use, tested with their roles.
let fixture: RunsFixture;
let control: Db;
let ingest: Db;
beforeAll(async () => {
  fixture = await startRuns();
  const open = (role: string) => createDb({ url: fixture.url, role, application: "test", connectionsMax: 3 });
  control = open("tidemark_control");
  ingest = open("tidemark_ingest");
});
afterAll(async () => {
  await Promise.all([control.close(), ingest.close()]);
  await fixture.close();
});

const ask = <Row = unknown>(db: Db, orgId: string, text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  db.withTenant(orgId, (tx) => tx.rows<Row>(testSql(text), values));

const lock = "SELECT * FROM runs.lock_state_v1($1, $2)";
const complete = `SELECT runs.set_state_v1($1, $2, 'failed', now(), 0, NULL, 'completed', $3, 'why', 'saved', 'api_key',
                                           now(), now(), now(), now())`;

describe("run state functions, as the control service", () => {
  test("lock and set a run, keep its lifecycle and the counters", async () => {
    const call = callAs();
    const run = await makeRun(fixture.client, call);
    await fixture.client.updateRun({ runId: run.id, status: "finished" }, call);
    await fixture.client.createRun({ id: run.id, mode: "resume" }, call);
    const request = randomUUID();
    await control.withTenant(call.orgId, async (tx) => {
      const locked = await tx.one<Record<string, unknown>>(testSql(lock), [call.orgId, run.id]);
      expect(locked).toMatchObject({
        project_id: run.projectId,
        status: "running",
        stop_state: "none",
        resume_count: 1,
      });
      await tx.rows(testSql(complete), [call.orgId, run.id, request]);
    });
    const { run: after } = await fixture.client.getRun({ runId: run.id, metricLimit: 1 }, call);
    expect(after?.run).toMatchObject({ status: "failed", lifecycle: [{ kind: "resume" }] });
    expect(after?.runControl).toMatchObject({ displayStatus: "stopped", stopRequestId: request, actor: "api_key" });
    const [counters] = await asOwner<{ runs_failed: number }>(
      fixture,
      "SELECT runs_running, runs_failed FROM runs.projects WHERE id = $1",
      [run.projectId],
    );
    expect(counters).toEqual({ runs_running: 0, runs_failed: 1 });
  });

  test("see and change nothing of another organization, with any argument", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call);
    const stranger = randomUUID();
    expect(await ask(control, stranger, lock, [call.orgId, id])).toEqual([]);
    expect(await ask(control, stranger, lock, [stranger, id])).toEqual([]);
    const set = ask(control, stranger, complete, [call.orgId, id, randomUUID()]);
    expect((await failure(set)).message).toMatch(/returned no rows/);
    const { run } = await fixture.client.getRun({ runId: id, metricLimit: 1 }, call);
    expect(run?.run?.status).toBe("running");
  });

  test("a second locker waits for the first and then reads what it wrote, at a later time", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call);
    let second: Promise<{ status: string; locked_at: string }[]> | undefined;
    const finishedAt = await control.withTenant(call.orgId, async (tx) => {
      await tx.rows(testSql(lock), [call.orgId, id]);
      second = ask(fixture.db, call.orgId, lock, [call.orgId, id]);
      // The first transaction continues once the other one waits for this row.
      let waiting = 0;
      for (let polls = 0; waiting === 0 && polls < 5000; polls += 1) {
        const [row] = await asOwner<{ n: number }>(
          fixture,
          "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
        );
        waiting = row?.n ?? 0;
      }
      expect(waiting).toBe(1);
      await tx.rows(testSql(complete), [call.orgId, id, randomUUID()]);
      const row = await tx.one<{ at: string }>(testSql("SELECT clock_timestamp() AS at"), []);
      return row?.at ?? "";
    });
    const [locked] = (await second) ?? [];
    expect(locked?.status).toBe("failed");
    expect(Date.parse(locked?.locked_at ?? "")).toBeGreaterThanOrEqual(Date.parse(finishedAt));
  });

  test.each([
    ["tables of runs", "SELECT * FROM runs.runs"],
    ["documents of runs", "SELECT config FROM runs.runs"],
    ["names through the table's other columns", "SELECT created_at FROM runs.projects"],
    ["the taking of run ids", "SELECT runs.take_run_id(gen_random_uuid(), gen_random_uuid())"],
    ["refs that are for ingest", "SELECT * FROM runs.run_refs_v1"],
  ])("may not use %s", async (_what, text) => {
    expect((await failure(ask(control, randomUUID(), text))).message).toMatch(/permission denied/);
  });
});

describe("views", () => {
  test("run_refs_v1 shows ingest its organization's runs and their projects", async () => {
    const call = callAs();
    const run = await makeRun(fixture.client, call);
    await makeRun(fixture.client, callAs());
    expect(await ask(ingest, call.orgId, "SELECT * FROM runs.run_refs_v1")).toEqual([
      { org_id: call.orgId, id: run.id, project_id: run.projectId, created_at: run.createdAt },
    ]);
    expect(await ask(ingest, randomUUID(), "SELECT * FROM runs.run_refs_v1 WHERE id = $1", [run.id])).toEqual([]);
  });

  test("project_refs_v1 shows control its organization's projects", async () => {
    const call = callAs();
    const run = await makeRun(fixture.client, call, { project: "p" });
    expect(await ask(control, call.orgId, "SELECT * FROM runs.project_refs_v1")).toEqual([
      { org_id: call.orgId, id: run.projectId, name: "p" },
    ]);
    expect(await ask(control, randomUUID(), "SELECT * FROM runs.project_refs_v1")).toEqual([]);
  });

  test.each([
    "SELECT config FROM runs.runs",
    "SELECT * FROM runs.projects",
    "SELECT * FROM runs.run_control_v1",
    "SELECT * FROM runs.lock_state_v1(gen_random_uuid(), gen_random_uuid())",
    "UPDATE runs.runs SET status = 'failed'",
  ])("ingest may not: %s", async (text) => {
    expect((await failure(ask(ingest, randomUUID(), text))).message).toMatch(/permission denied/);
  });
});

test("the column display_status says the same as the product's rule, for every pair of states", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call);
  for (const status of RUN_STATUSES) {
    for (const stop of STOP_STATES) {
      const [row] = await asOwner<{ display_status: string }>(
        fixture,
        `UPDATE runs.runs SET status = $2, finished_at = now(), stop_state = $3,
                stop_request_id = CASE WHEN $3 <> 'none' THEN id END
         WHERE id = $1 RETURNING display_status`,
        [id, status, stop],
      );
      expect([status, stop, row?.display_status]).toEqual([status, stop, displayStatus(status, stop)]);
    }
  }
});
