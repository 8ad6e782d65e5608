import type pg from "pg";
import { SPANS_A_TRACE, traceEvents } from "./events.ts";

/** Makes copies of a stored trace of a run until its project has this many, over the last six days. Only their summaries are copied. */
export async function copyTraces(owner: pg.Client, runId: string, count: number): Promise<void> {
  await owner.query(
    `INSERT INTO traces.traces (org_id, trace_id, run_id, project_id, version, segments, started_us, updated_us, status, kinds, min_step,
                                root_name, thread_id, rollout_id, summary)
     SELECT t.org_id, gen_random_uuid(), t.run_id, t.project_id, 1, 1, s.started, s.started,
            CASE WHEN s.n % 1000 = 0 THEN 3 WHEN s.n % 5000 = 1 THEN 1 ELSE 2 END,
            CASE WHEN s.n % 20000 = 7 THEN t.kinds | 1024 ELSE t.kinds END, s.n / 100,
            'rollout', 'thread-' || s.n, '', t.summary
     FROM (SELECT * FROM traces.traces WHERE run_id = $1 LIMIT 1) t,
          (SELECT n, (extract(epoch FROM now()) * 1e6)::bigint - 1000000 - n::bigint * 518400 AS started FROM generate_series(1, $2::integer) n) s`,
    [runId, count],
  );
  await owner.query(
    `INSERT INTO traces.minutes (org_id, scope_id, minute, facets, min_step_low, min_step_high)
     SELECT org_id, s.scope, started_us / 60000000, bit_or(kinds | (1 << (16 + status))), min(min_step), max(min_step)
     FROM traces.traces, unnest(ARRAY[project_id, run_id]) AS s (scope) GROUP BY 1, 2, 3
     ON CONFLICT (org_id, scope_id, minute) DO UPDATE SET facets = excluded.facets,
       min_step_low = excluded.min_step_low, min_step_high = excluded.min_step_high`,
  );
  await owner.query("VACUUM ANALYZE traces.traces, traces.minutes");
}

/** Traces and their bytes in all tables. */
export type StoredTraces = { readonly traces: number; readonly bytes: number };

/** Reads the sizes of the tables of traces. */
export async function readStored(owner: pg.Client): Promise<StoredTraces> {
  await owner.query("VACUUM traces.traces, traces.segments, traces.minutes");
  const { rows } = await owner.query<StoredTraces>(
    `SELECT count(*)::float8 AS traces, (pg_total_relation_size('traces.traces') + pg_total_relation_size('traces.segments')
            + pg_total_relation_size('traces.minutes'))::float8 AS bytes FROM traces.traces`,
  );
  return rows[0]!;
}

const TABLE = `
  CREATE TABLE public.span_rows (org_id uuid, run_id uuid, trace_id uuid, span_id text, parent_span_id text, name text, kind text, status text,
    started_at timestamptz, ended_at timestamptz, step double precision, thread_id text, attributes jsonb, metrics jsonb,
    PRIMARY KEY (org_id, run_id, trace_id, span_id));
  CREATE INDEX ON public.span_rows (org_id, run_id, started_at)`;
const INSERT = `
  INSERT INTO public.span_rows
  SELECT $1, $2, e.trace_id, e.span_id, e.parent_span_id, e.name, e.kind, e.status, e.started_at, e.ended_at, e.step, e.thread_id, e.attributes, e.metrics
  FROM json_to_recordset($3::json) AS e (trace_id uuid, span_id text, parent_span_id text, name text, kind text, status text,
    started_at timestamptz, ended_at timestamptz, step double precision, thread_id text, attributes jsonb, metrics jsonb)`;
const TRACES = 2000;

/** Returns what the same spans take as rows of a plain table with two indexes, in bytes a span. */
export async function bytesOfSpanRow(owner: pg.Client, orgId: string, runId: string): Promise<number> {
  await owner.query(TABLE);
  for (let first = 0; first < TRACES; first += 100) {
    const events = Array.from({ length: 100 }, (_, i) => traceEvents(Date.now() + first + i)).flat();
    await owner.query(INSERT, [orgId, runId, JSON.stringify(events)]);
  }
  const { rows } = await owner.query<{ bytes: number }>(
    "SELECT pg_total_relation_size('public.span_rows')::float8 AS bytes",
  );
  return rows[0]!.bytes / (TRACES * SPANS_A_TRACE);
}
