import { randomBytes, randomUUID } from "node:crypto";
import { cpus } from "node:os";
import pg from "pg";
import { startStack, type Mode, type OwnStack } from "../stack/stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { cpuOfTree } from "./cpu.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { runLoad, type Shot } from "./load.ts";
import { describeMlflow } from "./mlflow-traces.ts";
import { queuedEvent } from "./sdk-requests.ts";

// Traces: spans per second in, what they take on the disk, lists over a million traces, and pages of a trace of 100,000 spans.

const RUNS = 8;
const TRACES_PER_REQUEST = 5;
const SPANS_PER_TRACE = 20;
const LISTED_TRACES = 1_000_000;
const LARGE_SPANS = 100_000;
const LARGE_REQUEST = 500;
const WARM_UP_SECONDS = 2;

type Case = {
  readonly name: string;
  readonly connections: number;
  readonly spans: number;
  readonly shot: (index: number) => Shot;
};

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const spanId = (): string => randomBytes(8).toString("hex");
const models = ["gpt-4o-mini", "claude-sonnet", "llama-3-70b"];

/** One finished span with ids, a name, times and small attributes, as an agent's step reports it. */
function eventOf(traceId: string, id: string, parent: string | undefined, at: number, place: number): object {
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

/** The spans of one trace: a root, its children, and some grandchildren. */
function traceEvents(at: number): object[] {
  const traceId = randomBytes(16).toString("hex");
  const ids = Array.from({ length: SPANS_PER_TRACE }, spanId);
  return ids.map((id, place) => eventOf(traceId, id, place === 0 ? undefined : ids[Math.floor(place / 4)], at, place));
}

function requestBody(at: number): string {
  const events = Array.from({ length: TRACES_PER_REQUEST }, (_, i) => traceEvents(at + i)).flat();
  return JSON.stringify({ events });
}

/** Bodies are made before they are sent, and ids are changed while they are, because making them would cost the client more than the server. */
function appendCase(runIds: readonly string[], connections: number): Case {
  const bodies = Array.from({ length: 400 }, (_, i) => requestBody(Date.now() - 3_600_000 + i * 977));
  const shot = (index: number): Shot => {
    const runId = runIds[index % runIds.length]!;
    // Another time around the same spans would be no new ones.
    const salt = (0x1000_0000 + index).toString(16);
    const body = bodies[index % bodies.length]!.replaceAll(/"trace_id":"[0-9a-f]{8}/g, `"trace_id":"${salt}`);
    return queuedEvent(`/api/runs/${runId}/traces/events`, runId, body);
  };
  return { name: "POST events, 5 traces of 20 spans", connections, spans: TRACES_PER_REQUEST * SPANS_PER_TRACE, shot };
}

async function measure(stack: OwnStack, postgres: BenchPostgres, key: string, test: Case): Promise<void> {
  const pids = [...new Set([...stack.children.values()].map(({ pid }) => pid))];
  const readings: { servers: number; database: number; client: number }[] = [];
  const read = async (): Promise<void> => {
    const servers = await Promise.all(pids.map(cpuOfTree));
    const { user, system } = process.cpuUsage();
    readings.push({
      servers: servers.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0),
      database: (await cpuOfTree(postgres.pid)) ?? Number.NaN,
      client: (user + system) / 1e6,
    });
  };
  const load = { baseUrl: stack.baseUrl, key, concurrency: test.connections, warmUp: WARM_UP_SECONDS };
  const result = await runLoad({ ...load, seconds: options.seconds, shot: test.shot }, read);
  const [before, after] = readings;
  const each = Math.max(test.spans, 1) * result.requests;
  const per = (side: "servers" | "database" | "client"): string =>
    ((((after?.[side] ?? 0) - (before?.[side] ?? 0)) * 1e6) / each).toFixed(1);
  const rate = result.requests / result.seconds;
  const cells = [
    test.name,
    test.connections,
    rate.toFixed(0),
    test.spans === 0 ? "" : (rate * test.spans).toFixed(0),
    result.p50.toFixed(1),
    result.p95.toFixed(1),
    result.p99.toFixed(1),
    `${per("servers")} + ${per("database")} + ${per("client")}`,
    result.errors === 0 ? 0 : `${result.errors}: ${result.firstError}`,
  ];
  say(`| ${cells.join(" | ")} |`);
}

const HEAD = `| case | connections | requests/s | spans/s | p50 ms | p95 ms | p99 ms | CPU µs/span, of reads µs/request: server + PostgreSQL + client | errors |
|---|---|---|---|---|---|---|---|---|`;

async function describeSizes(owner: pg.Client): Promise<void> {
  await owner.query("VACUUM traces.traces, traces.segments, traces.minutes");
  const { rows } = await owner.query<Record<string, number>>(
    `SELECT count(*)::float8 AS traces, pg_total_relation_size('traces.traces')::float8 AS rows,
            pg_relation_size('traces.traces_words')::float8 AS words,
            pg_total_relation_size('traces.segments')::float8 AS segments, pg_total_relation_size('traces.minutes')::float8 AS minutes
     FROM traces.traces`,
  );
  const { traces = 0, rows: summaries = 0, segments = 0, words = 0, minutes = 0 } = rows[0] ?? {};
  const spans = traces * SPANS_PER_TRACE;
  const each = (bytes: number): string => (bytes / spans).toFixed(1);
  say(
    `\n${spans} spans of ${traces} traces: ${each(summaries + segments + minutes)} bytes a span on the disk: segments ${each(segments)}, ` +
      `summaries with their indexes ${each(summaries)} (of it the index of words ${each(words)}), minutes ${each(minutes)}.`,
  );
}

/** What the same spans take as rows of a plain table. */
async function describeRows(owner: pg.Client, orgId: string, runId: string): Promise<void> {
  await owner.query(
    `CREATE TABLE public.span_rows (org_id uuid, run_id uuid, trace_id uuid, span_id text, parent_span_id text, name text, kind text, status text,
       started_at timestamptz, ended_at timestamptz, step double precision, thread_id text, attributes jsonb, metrics jsonb,
       PRIMARY KEY (org_id, run_id, trace_id, span_id))`,
  );
  await owner.query("CREATE INDEX ON public.span_rows (org_id, run_id, started_at)");
  const count = 2000;
  for (let first = 0; first < count; first += 100) {
    const events = Array.from({ length: 100 }, (_, i) => traceEvents(Date.now() + first + i)).flat();
    await owner.query(
      `INSERT INTO public.span_rows
       SELECT $1, $2, e.trace_id, e.span_id, e.parent_span_id, e.name, e.kind, e.status, e.started_at, e.ended_at, e.step, e.thread_id,
              e.attributes, e.metrics
       FROM json_to_recordset($3::json) AS e (trace_id uuid, span_id text, parent_span_id text, name text, kind text, status text,
         started_at timestamptz, ended_at timestamptz, step double precision, thread_id text, attributes jsonb, metrics jsonb)`,
      [orgId, runId, JSON.stringify(events)],
    );
  }
  const { rows } = await owner.query<{ bytes: string }>("SELECT pg_total_relation_size('public.span_rows') AS bytes");
  say(
    `The same spans as a row each, with two indexes: ${(Number(rows[0]?.bytes) / (count * SPANS_PER_TRACE)).toFixed(1)} bytes a span.`,
  );
}

/** Makes copies of stored traces until a project has a million, over the last six days. Only their summaries are copied. */
async function seedTraces(owner: pg.Client, runId: string): Promise<void> {
  await owner.query(
    `INSERT INTO traces.traces (org_id, trace_id, run_id, project_id, version, segments, started_us, updated_us, status, kinds, min_step,
                                root_name, thread_id, rollout_id, summary)
     SELECT t.org_id, gen_random_uuid(), t.run_id, t.project_id, 1, 1, s.started, s.started,
            CASE WHEN s.n % 1000 = 0 THEN 3 WHEN s.n % 5000 = 1 THEN 1 ELSE 2 END,
            CASE WHEN s.n % 20000 = 7 THEN t.kinds | 1024 ELSE t.kinds END, s.n / 100,
            'rollout', 'thread-' || s.n, '', t.summary
     FROM (SELECT * FROM traces.traces WHERE run_id = $1 LIMIT 1) t,
          (SELECT n, (extract(epoch FROM now()) * 1e6)::bigint - 1000000 - n::bigint * 518400 AS started FROM generate_series(1, $2::integer) n) s`,
    [runId, LISTED_TRACES],
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

/** Writes a trace of 100,000 spans: a root with 1,000 children of 99 spans each. Returns its id and that of a child. */
async function writeLargeTrace(
  stack: OwnStack,
  key: string,
  runId: string,
): Promise<{ traceId: string; root: string; child: string }> {
  const traceId = randomBytes(16).toString("hex");
  const at = Date.now() - 1_000_000;
  const root = spanId();
  const children = Array.from({ length: 1000 }, spanId);
  const events = [eventOf(traceId, root, undefined, at, 0)];
  for (const [i, child] of children.entries()) {
    events.push(eventOf(traceId, child, root, at + i, 1));
    for (let leaf = 0; leaf < 99 && events.length < LARGE_SPANS; leaf++) {
      events.push(eventOf(traceId, spanId(), child, at + i, leaf));
    }
  }
  for (let first = 0; first < events.length; first += LARGE_REQUEST) {
    const answer = await fetch(`${stack.baseUrl}/api/runs/${runId}/traces/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": randomUUID() },
      body: JSON.stringify({ events: events.slice(first, first + LARGE_REQUEST) }),
    });
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  }
  return { traceId, root, child: children[500]! };
}

async function bench(mode: Mode, postgres: BenchPostgres): Promise<void> {
  const url = await postgres.database(`bench_traces_${mode}`);
  const settings = { TIDEMARK_LOG_LEVEL: "error" };
  const stack = await startStack(mode, { databaseUrl: url, settings });
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  try {
    const { api, key, orgId } = await stack.organization();
    const newRun = async (project: string): Promise<string> =>
      (await api.post("/runs", { project })).json.run.id as string;
    const runIds: string[] = [];
    while (runIds.length < RUNS) runIds.push(await newRun("bench"));
    say(
      `\n${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}, ${mode}, one organization.\n`,
    );
    say(HEAD);
    const wanted = (name: string): boolean => name.includes(options.only);
    for (const connections of [1, 8]) {
      const test = appendCase(runIds, connections);
      if (wanted(test.name)) await measure(stack, postgres, key, test);
    }
    await describeSizes(owner);
    await describeRows(owner, orgId, runIds[0]!);
    if (!wanted("GET")) return;

    const listedRun = await newRun("listed");
    await api.post(
      `/api/runs/${listedRun}/traces/events`,
      { events: traceEvents(Date.now()) },
      { headers: { "idempotency-key": "k" } },
    );
    await seedTraces(owner, listedRun);
    const largeRun = await newRun("large");
    const started = performance.now();
    const large = await writeLargeTrace(stack, key, largeRun);
    say(
      `\nA trace of ${LARGE_SPANS} spans written in ${((performance.now() - started) / 1000).toFixed(1)} s, ${LARGE_REQUEST} spans a request.\n`,
    );
    say(HEAD);
    const place = (index: number): string =>
      Buffer.from(
        JSON.stringify([(Date.now() - ((index * 7919) % 500_000) * 1000) * 1000, "8".repeat(32), listedRun]),
      ).toString("base64url");
    const list = "/api/traces?project=listed";
    const detail = `/api/runs/${largeRun}/traces/${large.traceId}`;
    const cases: [string, (index: number) => string][] = [
      ["list, first page of 50", () => list],
      ["list, deep cursor", (i) => `${list}&cursor=${place(i)}`],
      ["list of the run", () => `/api/traces?run_id=${listedRun}`],
      ["list, status=error (1 in 1,000)", () => `${list}&status=error`],
      ["list, status=running (1 in 5,000)", () => `${list}&status=running`],
      ["list, kind=checkpoint (1 in 20,000)", () => `${list}&kind=checkpoint`],
      ["list, 300 steps of 10,000", (i) => `${list}&min_step=${(i * 37) % 9000}&max_step=${((i * 37) % 9000) + 300}`],
      ["list, q that one trace has", (i) => `${list}&q=thread-${100_000 + ((i * 7919) % 800_000)}`],
      ["list, q that all have", () => `${list}&q=rollout`],
      ["detail of 100,000 spans", () => detail],
      ["children of the root, page of 100", () => `${detail}/spans?parent_span_id=${large.root}`],
      ["children of a span, page of 100", () => `${detail}/spans?parent_span_id=${large.child}`],
    ];
    for (const [name, path] of cases) {
      const shot = (index: number): Shot => ({ method: "GET", path: path(index) });
      await measure(stack, postgres, key, { name: `GET ${name}`, connections: 1, spans: 0, shot });
    }
  } finally {
    await owner.end();
    await stack.stop();
  }
}

await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) await bench(mode, postgres);
  if (!"MLflow".includes(options.only)) return;
  say(
    `\n${await describeMlflow(await postgres.database("mlflow"), postgres.directory, postgres.pid, options.seconds)}`,
  );
});
