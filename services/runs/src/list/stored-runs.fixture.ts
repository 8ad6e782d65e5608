import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";

import type { DisplayStatus, RunStatus, StopState } from "@tidemark/run-state";
import { asOwner, type RunsFixture } from "../runs.fixture.ts";

/** A run that a test stores. */
export type StoredRun = {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly shown: DisplayStatus;
  readonly tags: readonly string[];
  /** Compact JSON, keys sorted, as it is stored. */
  readonly config: string;
  readonly metadata: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Microseconds from start to end; ignored for a running run. */
  readonly took: number;
};

/** Returns a run with the given parts and defaults for the rest. */
export function storedRun(parts: Partial<StoredRun> = {}): StoredRun {
  return {
    id: randomUUID(),
    project: "p",
    name: "run",
    status: "running",
    shown: parts.status ?? "running",
    tags: [],
    config: "{}",
    metadata: "{}",
    createdAt: "2026-01-02T03:04:05.678901Z",
    took: 1_000_000,
    ...parts,
  };
}

const stopOf: Partial<Record<DisplayStatus, string>> = { stopping: "requested", stopped: "completed" };

/** Stores runs directly in the tables, with their triggers, and counts them as the service does. */
export async function storeRuns(fixture: RunsFixture, orgId: string, runs: readonly StoredRun[]): Promise<void> {
  const rows = runs.map((run) => ({ ...run, stop: stopOf[run.shown] ?? "none" }));
  await asOwner(
    fixture,
    `INSERT INTO runs.projects (org_id, id, name)
     SELECT DISTINCT ON (name) $1::uuid, gen_random_uuid(), name FROM unnest($2::text[]) AS p (name)
     ON CONFLICT DO NOTHING`,
    [orgId, runs.map(({ project }) => project)],
  );
  await asOwner(
    fixture,
    `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                            finished_at, stop_state, stop_request_id)
     SELECT $1, r.id, p.id, r.name, r.status, r.config, r.tags, r.metadata, r."createdAt", r."createdAt",
            CASE WHEN r.status <> 'running' THEN r."createdAt" + r.took * interval '1 microsecond' END, r.stop,
            CASE WHEN r.stop <> 'none' THEN r.id END
     FROM json_to_recordset($2) AS r (id uuid, project text, name text, status text, config text, tags text[],
                                      metadata text, "createdAt" timestamptz, took float8, stop text)
     JOIN runs.projects p ON p.org_id = $1 AND p.name = r.project`,
    [orgId, JSON.stringify(rows)],
  );
  // By stored status; the triggers keep the counts by display status.
  await asOwner(
    fixture,
    `UPDATE runs.projects p SET
       runs_running = (SELECT count(*) FROM runs.runs r WHERE r.project_id = p.id AND r.status = 'running'),
       runs_finished = (SELECT count(*) FROM runs.runs r WHERE r.project_id = p.id AND r.status = 'finished'),
       runs_failed = (SELECT count(*) FROM runs.runs r WHERE r.project_id = p.id AND r.status = 'failed')
     WHERE p.org_id = $1`,
    [orgId],
  );
}

/** Returns the id of a project by its name. */
export async function projectIdOf(fixture: RunsFixture, orgId: string, name: string): Promise<string> {
  const [row] = await asOwner<{ id: string }>(fixture, "SELECT id FROM runs.projects WHERE org_id = $1 AND name = $2", [
    orgId,
    name,
  ]);
  if (row === undefined) throw new Error(`no project ${name}`);
  return row.id;
}

/** A stored status and a stop state. */
export type Step = readonly [status: RunStatus, stop: StopState];

const setState =
  testSql(`SELECT runs.set_state_v1($1, $2, $3, CASE WHEN $3 <> 'running' THEN coalesce(r.finished_at, now()) ELSE r.finished_at END,
                            r.resume_count, r.resumed_at, $4, CASE WHEN $4 <> 'none' THEN $2::uuid END, NULL, NULL, NULL,
                            NULL, NULL, NULL, NULL)
   FROM runs.runs r WHERE r.org_id = $1 AND r.id = $2`);

/** Moves a run through states, one transaction each, with the function that stop requests use too. */
export async function move({ db }: RunsFixture, orgId: string, runId: string, states: readonly Step[]): Promise<void> {
  for (const [status, stop] of states) {
    await db.withTenant(orgId, (tx) => tx.rows(setState, [orgId, runId, status, stop]));
  }
}
