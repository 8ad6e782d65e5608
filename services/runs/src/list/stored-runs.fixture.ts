import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import type { DisplayStatus, RunStatus, StopState } from "@tidemark/run-state";
import { asOwner, type RunsFixture } from "../runs.fixture.ts";
import { putValues, indexSortValues } from "../metrics/ingested.fixture.ts";
import { SCORE } from "./list-pages.fixture.ts";
import { RUN_SORTS } from "@tidemark/limits";
import type { RunSort } from "./run-list.rules.ts";

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

/** A metric for which less is better. */
export const LOSS = "train/loss";

const metric = (key: string, value: number | undefined) => (value === undefined ? {} : { [key]: value });

/** A run with its metrics. */
export type MeasuredRun = StoredRun & { readonly metrics: Readonly<Record<string, number>> };

/** Returns the n-th time; times increase with n, up to 49. */
export const instant = (n: number): string => `2026-03-04T05:06:${String(10 + n).padStart(2, "0")}.00000${n % 10}Z`;
/** Returns the n-th value of a list that repeats. */
export const pick = <T>(values: readonly T[], n: number): T => values[n % values.length] as T;

/** Returns runs: many have equal sort values, and some have none. */
export function drawRuns(count: number): MeasuredRun[] {
  return Array.from({ length: count }, (_, n) => {
    const [status, shown] = pick<[RunStatus, DisplayStatus]>(
      [
        ["running", "running"],
        ["finished", "finished"],
        ["running", "stopping"],
        ["failed", "failed"],
        ["finished", "stopped"],
        ["failed", "stopped"],
      ],
      n * 5,
    );
    return {
      ...storedRun({
        project: pick(["p", "q"], Math.floor(n / 3)),
        name: pick(["same", "same", "Same", "\u{FF5E}", "\u{1F600}", "a_b%c\\d", `own ${n}`], n),
        status,
        shown,
        tags: n % 4 === 0 ? ["fourth"] : [],
        createdAt: instant(Math.floor(n / 4)),
        took: pick([0, 1, 1_000_000, 86_400_000_000 + 1, 36 * 3_600_000_000, 1_000_000, 400 * 86_400_000_000], n),
      }),
      metrics: {
        ...metric(
          SCORE,
          pick([0.5, -0, 0, undefined, 0.1 + 0.2, 0.3, 5e-324, -1.7e308, 1.7e308, undefined, 0.5, -1], n),
        ),
        ...metric(LOSS, pick([0, 2, undefined, -0, 0.5, 0.5, undefined], n)),
      },
    };
  });
}

const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const descending = (a: number | string, b: number | string): number => (a === b ? 0 : a < b ? 1 : -1);

/** Returns the value to sort by, the greatest first; undefined comes last. */
function valueOf(run: MeasuredRun, sort: RunSort, metricKey: string): number | undefined {
  if (sort === "duration") return run.status === "running" ? undefined : run.took;
  const value = run.metrics[metricKey];
  return value === undefined ? undefined : metricKey === LOSS && sort === "metric-best" ? 0 - value : value + 0;
}

/** Returns the ids in the order of a list, by the plain definition of the order. */
export function sorted(runs: readonly MeasuredRun[], sort: RunSort, metricKey = SCORE): string[] {
  const newest = (a: MeasuredRun, b: MeasuredRun): number =>
    descending(a.createdAt, b.createdAt) || descending(a.id, b.id);
  const first = (a: MeasuredRun, b: MeasuredRun): number => {
    if (sort === "created") return 0;
    if (sort === "name") return byCodePoint(a.name, b.name);
    if (sort === "status") return byCodePoint(a.shown, b.shown) || byCodePoint(a.name, b.name);
    const [left, right] = [valueOf(a, sort, metricKey), valueOf(b, sort, metricKey)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return descending(left, right);
  };
  return runs.toSorted((a, b) => first(a, b) || newest(a, b)).map(({ id }) => id);
}

/** Every order, and both directions of metrics; no run has the last metric. */
export const orders: [sort: RunSort, metricKey: string][] = [
  ...RUN_SORTS.map((sort): [RunSort, string] => [sort, SCORE]),
  ["metric-best", LOSS],
  ["metric-latest", LOSS],
  ["metric-best", "nobody/has"],
];

/** Stores runs with their metrics; the sort values of every second one are indexed. */
export async function storeMeasured(fixture: RunsFixture, orgId: string, runs: readonly MeasuredRun[]): Promise<void> {
  await storeRuns(fixture, orgId, runs);
  for (const { id, metrics } of runs) await putValues(fixture, orgId, id, metrics);
  const measured = runs.filter(({ metrics }) => Object.keys(metrics).length > 0);
  const indexed = measured.filter((_run, n) => n % 2 === 0).map(({ id }) => id);
  await indexSortValues(fixture, orgId, indexed);
}
