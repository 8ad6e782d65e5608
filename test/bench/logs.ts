import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@tidemark/local";
import pg from "pg";
import { until } from "@tidemark/testkit";
import { startStack, type Mode, type OwnStack } from "../stack/stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { asciiJson, consoleLines, timeText } from "./console-lines.ts";
import { cpuOfTree } from "./cpu.ts";
import { runLoad, type Shot } from "./load.ts";
import { compareCompressors } from "./log-compressors.ts";
import { queuedEvent, withoutKey } from "./sdk-requests.ts";

// Console logs: lines per second in, what they take on the disk once compacted, and reads of a run of a million lines.

const RUNS = 32;
const LINES_PER_REQUEST = 50;
const LONG_RUN_LINES = 1_000_000;
const LONG_RUN_CONNECTIONS = 8;
const WARM_UP_SECONDS = 2;
/** Different requests, so that the stored lines do not repeat. */
const DISTINCT_LINES = 100_000;

type Case = { name: string; concurrency: number; lines: number; shot: (index: number) => Shot };
type Server = { url: string; pid: number };

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);

const printed = consoleLines("mixed", DISTINCT_LINES);
/** The messages as Python writes them in JSON. */
const messages = printed.map(({ message }) => asciiJson(message));

/** One call of `log_console` with its lines, which all get the time of the call: its body as `instantml` 0.1.1 sends it from its queue. */
function bodyOf(firstLine: number): string {
  const time = timeText(printed[(firstLine + LINES_PER_REQUEST - 1) % DISTINCT_LINES]!.timeUs);
  const lines = Array.from({ length: LINES_PER_REQUEST }, (_, i) => {
    const line = firstLine + i;
    return `{"line_number": ${line}, "message": ${messages[line % DISTINCT_LINES]}, "timestamp": "${time}"}`;
  });
  return `{"lines": [${lines.join(", ")}], "stream": "stdout"}`;
}

const post = (runId: string, firstLine: number): Shot =>
  queuedEvent(`/api/runs/${runId}/logs`, runId, bodyOf(firstLine));

function writeCases(runIds: readonly string[]): Case[] {
  const next = new Map(runIds.map((runId) => [runId, 1]));
  const shot = (index: number): Shot => {
    const runId = runIds[index % runIds.length]!;
    const firstLine = next.get(runId)!;
    next.set(runId, firstLine + LINES_PER_REQUEST);
    return post(runId, firstLine);
  };
  const name = `POST logs, ${LINES_PER_REQUEST} lines, ${RUNS} runs`;
  return [
    ...[1, 8, 32].map((concurrency) => ({ name, concurrency, lines: LINES_PER_REQUEST, shot })),
    {
      name: `${name}, no idempotency key`,
      concurrency: 8,
      lines: LINES_PER_REQUEST,
      shot: (index: number) => withoutKey(shot(index)),
    },
  ];
}

function readCases(runId: string): Case[] {
  const path = `/api/runs/${runId}/logs`;
  // Places all over the run, so that no block is asked for twice in a row.
  const place = (index: number): string => {
    const line = 1 + ((index * 7919 * 53) % (LONG_RUN_LINES - 10_000));
    return Buffer.from(JSON.stringify([line, 0])).toString("base64url");
  };
  const get = (query: (index: number) => string) => (index: number) =>
    ({ method: "GET", path: `${path}?${query(index)}` }) as const;
  return [1, 8].flatMap((concurrency) => [
    { name: "tail=500 of 1,000,000 lines", concurrency, lines: 500, shot: get(() => "tail=500") },
    { name: "page of 250 at a deep cursor", concurrency, lines: 250, shot: get((i) => `cursor=${place(i)}`) },
    {
      name: "page of 1,000 at a deep cursor",
      concurrency,
      lines: 1000,
      shot: get((i) => `limit=1000&cursor=${place(i)}`),
    },
    {
      name: "q that nothing matches (5,000 lines looked at)",
      concurrency,
      lines: 0,
      shot: get((i) => `q=absent&cursor=${place(i)}`),
    },
    {
      name: "q that one line in 50 matches, page of 250",
      concurrency,
      lines: 0,
      shot: get((i) => `q=TRACEBACK&cursor=${place(i)}`),
    },
  ]);
}

async function measure(stack: OwnStack, server: Server, key: string, test: Case): Promise<string> {
  const pids = [...new Set([...stack.children.values()].map(({ pid }) => pid))];
  const readings: { servers: number; database: number; client: number }[] = [];
  const read = async (): Promise<void> => {
    const servers = await Promise.all(pids.map(cpuOfTree));
    const { user, system } = process.cpuUsage();
    readings.push({
      servers: servers.reduce<number>((sum, value) => sum + (value ?? Number.NaN), 0),
      database: (await cpuOfTree(server.pid)) ?? Number.NaN,
      client: (user + system) / 1e6,
    });
  };
  const load = { baseUrl: stack.baseUrl, key, concurrency: test.concurrency, warmUp: WARM_UP_SECONDS };
  const result = await runLoad({ ...load, seconds: options.seconds, shot: test.shot }, read);
  const [before, after] = readings;
  const per = (side: "servers" | "database" | "client"): string =>
    ((((after?.[side] ?? 0) - (before?.[side] ?? 0)) * 1e6) / result.requests).toFixed(0);
  const rate = result.requests / result.seconds;
  const cells = [
    stack.mode,
    test.name,
    test.concurrency,
    rate.toFixed(0),
    test.lines === 0 ? "" : (rate * test.lines).toFixed(0),
    result.p50.toFixed(1),
    result.p95.toFixed(1),
    result.p99.toFixed(1),
    `${per("servers")} + ${per("database")} + ${per("client")}`,
    result.errors === 0 ? 0 : `${result.errors}: ${result.firstError}`,
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Waits until nothing waits for compaction. Returns the seconds that it took. */
async function drained(owner: pg.Client): Promise<number> {
  const started = performance.now();
  await until(
    "the end of the compaction",
    async () => (await owner.query("SELECT FROM ingest.log_segments LIMIT 1")).rows.length === 0,
    300_000,
  );
  return (performance.now() - started) / 1000;
}

const SIZES = `
  SELECT (SELECT sum(lines) FROM ingest.log_blocks)::float8 AS lines,
         (SELECT sum(message_bytes) FROM ingest.log_blocks)::float8 AS text,
         (SELECT count(*) FROM ingest.log_blocks)::float8 AS blocks,
         pg_total_relation_size('ingest.log_blocks')::float8 AS block_bytes,
         pg_total_relation_size('ingest.log_segments')::float8 AS segment_bytes,
         pg_total_relation_size('ingest.compaction_work')::float8
           + pg_total_relation_size('ingest.dirty_markers')::float8 AS work_bytes`;

async function describeSizes(owner: pg.Client, what: string): Promise<string> {
  await owner.query("VACUUM ingest.log_segments, ingest.log_blocks, ingest.compaction_work, ingest.dirty_markers");
  const { rows } = await owner.query<Record<string, number>>(SIZES);
  const { lines = 0, text = 0, blocks = 0, block_bytes = 0, segment_bytes = 0, work_bytes = 0 } = rows[0] ?? {};
  const each = (bytes: number): string => (bytes / lines).toFixed(2);
  return `${what}: ${lines} lines of ${each(text)} bytes of text in ${blocks} blocks; on disk ${each(block_bytes)} bytes a line in blocks with index and TOAST, ${each(segment_bytes)} in the empty segment table, ${each(work_bytes)} for the work.`;
}

/** What the same lines take as rows of a plain table with the same columns and key. */
async function describeRows(owner: pg.Client, orgId: string, runId: string): Promise<string> {
  await owner.query(`CREATE TABLE public.log_rows (org_id uuid, run_id uuid, stream text, line_number bigint, id bigint,
    message text, sent_at timestamptz, created_at timestamptz DEFAULT now(), PRIMARY KEY (org_id, run_id, stream, line_number, id))`);
  const lines = consoleLines("mixed", DISTINCT_LINES);
  await owner.query(
    `INSERT INTO public.log_rows (org_id, run_id, stream, line_number, id, message, sent_at)
     SELECT $1, $2, 'stdout', l.n, 1000000 + l.n, l.message, l.sent_at
     FROM unnest($3::text[], $4::timestamptz[]) WITH ORDINALITY AS l (message, sent_at, n)`,
    [orgId, runId, lines.map(({ message }) => message), lines.map(({ timeUs }) => timeText(timeUs))],
  );
  const { rows } = await owner.query<{ bytes: string }>("SELECT pg_total_relation_size('public.log_rows') AS bytes");
  return `The same lines as a row each: ${(Number(rows[0]?.bytes) / DISTINCT_LINES).toFixed(1)} bytes a line with the index.`;
}

async function fillLongRun(stack: OwnStack, key: string, runId: string): Promise<void> {
  const agent = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  let next = 1;
  const send = async (): Promise<void> => {
    while (next <= LONG_RUN_LINES) {
      const { path, body, headers } = post(runId, next);
      next += LINES_PER_REQUEST;
      const request = { method: "POST", headers: { ...headers, ...agent }, body: String(body) };
      const answer = await fetch(`${stack.baseUrl}${path}`, request);
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: LONG_RUN_CONNECTIONS }, send));
}

async function bench(mode: Mode, server: Server): Promise<void> {
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`CREATE DATABASE bench_logs_${mode}`);
  await admin.end();
  const url = new URL(server.url);
  url.pathname = `/bench_logs_${mode}`;
  const settings = { TIDEMARK_LOG_LEVEL: "error", TIDEMARK_INGEST_COMPACT_AFTER_SECONDS: "5" };
  const stack = await startStack(mode, { databaseUrl: url.href, settings });
  const owner = new pg.Client({ connectionString: url.href });
  await owner.connect();
  try {
    const { api, key, orgId } = await stack.organization();
    const newRun = async (): Promise<string> => (await api.post("/runs", { project: "bench" })).json.run.id as string;
    const runIds: string[] = [];
    while (runIds.length < RUNS) runIds.push(await newRun());
    say(
      `\n${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}, ${mode}, one organization.`,
    );
    say(
      "| mode | case | connections | requests/s | lines/s | p50 ms | p95 ms | p99 ms | CPU µs/request: server + PostgreSQL + client | errors |",
    );
    say("|---|---|---|---|---|---|---|---|---|---|");
    const wanted = (cases: Case[]): Case[] => cases.filter(({ name }) => name.includes(options.only));
    for (const test of wanted(writeCases(runIds))) say(await measure(stack, server, key, test));
    say(`\nCompacted ${(await drained(owner)).toFixed(0)} s after the last write.`);
    say(await describeSizes(owner, `${RUNS} runs`));

    const longRun = await newRun();
    const started = performance.now();
    await fillLongRun(stack, key, longRun);
    const seconds = (performance.now() - started) / 1000;
    say(
      `One run of ${LONG_RUN_LINES} lines written in ${seconds.toFixed(0)} s at ${LONG_RUN_CONNECTIONS} connections, compacted ${(await drained(owner)).toFixed(0)} s later.`,
    );
    say(await describeSizes(owner, "All together"));
    say(`${await describeRows(owner, orgId, longRun)}\n`);
    say(
      "| mode | case | connections | requests/s | lines/s | p50 ms | p95 ms | p99 ms | CPU µs/request: server + PostgreSQL + client | errors |",
    );
    say("|---|---|---|---|---|---|---|---|---|---|");
    for (const test of wanted(readCases(longRun))) say(await measure(stack, server, key, test));
  } finally {
    await owner.end();
    await stack.stop();
  }
}

say(
  "Bodies as `instantml` 0.1.1 sends them from its queue: the lines of one call have one time, each request an idempotency key.",
);
say(compareCompressors());
const directory = await mkdtemp(join(tmpdir(), "tidemark-bench-"));
// As in production: every acknowledged write is on the disk.
const postgres = await startPostgres({ dataDir: join(directory, "postgres"), log: () => {} });
try {
  for (const mode of options.modes) await bench(mode, postgres);
} finally {
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}
