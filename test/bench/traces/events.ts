import type pg from "pg";
import { randomBytes, randomUUID } from "node:crypto";

/** Spans of an ordinary trace. */
export const SPANS_A_TRACE = 20;

const models = ["gpt-4o-mini", "claude-sonnet", "llama-3-70b"];

/** Returns a new id of a span. */
const spanId = (): string => randomBytes(8).toString("hex");

/** Where a span is in its trace. */
type SpanPlace = {
  readonly traceId: string;
  readonly id: string;
  readonly parent?: string | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Among the spans of the trace; 0 is the root. */
  readonly place: number;
};

/** Returns one finished span with ids, a name, times and small attributes, as an agent's step reports it. */
function spanEvent({ traceId, id, parent, at, place }: SpanPlace): object {
  const isModel = place % 3 === 1;
  return {
    trace_id: traceId,
    span_id: id,
    ...(parent === undefined ? {} : { parent_span_id: parent }),
    event_id: randomUUID(),
    sequence: 2,
    event_kind: "finished",
    name: place === 0 ? "rollout" : isModel ? "chat" : `tool.call_${place % 7}`,
    kind: place === 0 ? "rollout" : isModel ? "model" : "tool",
    status: place === 17 && at % 50 === 0 ? "error" : "ok",
    started_at: new Date(at + place * 13).toISOString(),
    ended_at: new Date(at + place * 13 + 7 + (at % 11)).toISOString(),
    step: Math.floor(at / 1000) % 10_000,
    ...(place === 0 ? { thread_id: `thread-${traceId.slice(0, 12)}` } : {}),
    attributes: isModel
      ? { model: models[at % 3], temperature: 0.2, turn: place }
      : { turn: place, cached: place % 2 === 0 },
    ...(isModel
      ? { metrics: { "gen_ai.usage.input_tokens": 200 + (at % 900), "gen_ai.usage.output_tokens": 20 + (at % 90) } }
      : {}),
  };
}

/** Returns the spans of one trace: a root, its children, and some grandchildren. */
export function traceEvents(at: number): object[] {
  const traceId = randomBytes(16).toString("hex");
  const ids = Array.from({ length: SPANS_A_TRACE }, spanId);
  return ids.map((id, place) => {
    const parent = place === 0 ? undefined : ids[Math.floor(place / 4)];
    return spanEvent({ traceId, id, parent, at, place });
  });
}

/** Returns the spans of a large trace, a root with children of 99 spans each, and the ids of the root and of a child. */
export function largeTrace(spans: number) {
  const traceId = randomBytes(16).toString("hex");
  const at = Date.now() - 1_000_000;
  const root = spanId();
  const children = Array.from({ length: Math.ceil(spans / 100) }, spanId);
  const events = [spanEvent({ traceId, id: root, at, place: 0 })];
  for (const [i, child] of children.entries()) {
    events.push(spanEvent({ traceId, id: child, parent: root, at: at + i, place: 1 }));
    for (let leaf = 0; leaf < 99 && events.length < spans; leaf += 1) {
      events.push(spanEvent({ traceId, id: spanId(), parent: child, at: at + i, place: leaf }));
    }
  }
  return { traceId, root, child: children[children.length >> 1]!, events };
}

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
