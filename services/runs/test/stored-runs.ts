import { randomUUID } from "node:crypto";
import type { DisplayStatus, RunStatus } from "@tidemark/run-state";
import { asOwner, putHead, type RunsFixture } from "./fixture.ts";

/** A run as a test wants it. */
export type StoredRun = {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly shown: DisplayStatus;
  readonly tags: readonly string[];
  /** As it is stored: compact JSON, keys sorted. */
  readonly config: string;
  readonly metadata: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Microseconds from start to end; of no meaning for a running run. */
  readonly took: number;
};

/** A run of which only some things matter. */
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

/** Stores runs past everything but the triggers, and counts them as the service does. */
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
  // By stored status; the trigger counts what is shown instead.
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

/** Gives a run metrics with one value each. */
export async function putValues(
  fixture: RunsFixture,
  orgId: string,
  runId: string,
  values: Readonly<Record<string, number>>,
): Promise<void> {
  for (const [key, latest] of Object.entries(values)) await putHead(fixture, orgId, runId, key, { latest });
}

/** Settles runs as the ingest service does once nobody has written to them for a while. */
export async function settleRuns(fixture: RunsFixture, orgId: string, runIds: readonly string[]): Promise<void> {
  for (const id of runIds) {
    await asOwner(fixture, "SELECT ingest.settle_heads($1, $2, '', 1000)", [orgId, id]);
    const [row] = await asOwner<{ settled: boolean }>(fixture, "SELECT ingest.settle_run($1, $2, 1) AS settled", [
      orgId,
      id,
    ]);
    if (row?.settled !== true) throw new Error(`run ${id} did not settle`);
  }
}

/** The id of a project by its name. */
export async function projectIdOf(fixture: RunsFixture, orgId: string, name: string): Promise<string> {
  const [row] = await asOwner<{ id: string }>(fixture, "SELECT id FROM runs.projects WHERE org_id = $1 AND name = $2", [
    orgId,
    name,
  ]);
  if (row === undefined) throw new Error(`no project ${name}`);
  return row.id;
}
