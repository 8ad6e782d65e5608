import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { requirePython } from "@tidemark/testkit";
import pg from "pg";
import { cpuOfTree } from "./cpu.ts";
import { runLoad } from "./load.ts";
import { startMlflow } from "./metrics/mlflow-server.ts";
import { otlpRequest } from "./otlp-request.ts";

const TRACES_PER_REQUEST = 5;
const SPANS_PER_TRACE = 20;
const WARM_UP_SECONDS = 5;
/** The experiment that every MLflow server has. */
const EXPERIMENT = "0";

function request(): Buffer {
  const startMs = Date.now();
  const spans = Array.from({ length: TRACES_PER_REQUEST }, () => {
    const traceId = randomBytes(16).toString("hex");
    const ids = Array.from({ length: SPANS_PER_TRACE }, () => randomBytes(8).toString("hex"));
    return ids.map((spanId, place) => ({
      traceId,
      spanId,
      parentSpanId: place === 0 ? undefined : ids[Math.floor(place / 4)],
      name: place === 0 ? "rollout" : "chat",
      startMs: startMs + place * 13,
      endMs: startMs + place * 13 + 7,
      attributes: { model: "gpt-4o-mini", turn: String(place) },
    }));
  });
  return otlpRequest(spans.flat());
}

/**
 * Sends the same spans to MLflow's tracking server as an exporter of OpenTelemetry does, and says what became of them. Says so where Python or its
 * packages are not available.
 */
export async function describeMlflow(
  databaseUrl: string,
  directory: string,
  databasePid: number,
  seconds: number,
): Promise<string> {
  const python = await requirePython({
    requirements: join(import.meta.dirname, "metrics", "mlflow-requirements.txt"),
    leftOut: "the comparison with MLflow's tracing store",
  });
  if (python === undefined) return "MLflow is not available.";
  const server = await startMlflow({ ...python, databaseUrl, directory });
  const owner = new pg.Client({ connectionString: databaseUrl });
  await owner.connect();
  try {
    const cpu: number[] = [];
    const read = async (): Promise<void> => {
      cpu.push(((await cpuOfTree(server.pid)) ?? Number.NaN) + ((await cpuOfTree(databasePid)) ?? Number.NaN));
    };
    const headers = { "content-type": "application/x-protobuf", "x-mlflow-experiment-id": EXPERIMENT };
    const load = { baseUrl: server.uri, key: "", concurrency: 8, warmUp: WARM_UP_SECONDS, seconds };
    const shot = () => ({ method: "POST" as const, path: "/v1/traces", body: request(), headers });
    const result = await runLoad({ ...load, shot }, read);
    await owner.query("VACUUM");
    const { rows } = await owner.query<{ spans: number; bytes: number }>(
      `SELECT (SELECT count(*) FROM spans)::float8 AS spans,
              (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
               WHERE c.relname IN ('spans', 'span_metrics', 'trace_info', 'trace_tags', 'trace_request_metadata', 'trace_metrics')
                 AND c.relkind = 'r')::float8 AS bytes`,
    );
    const { spans = 0, bytes = 0 } = rows[0] ?? {};
    const sent = result.requests * TRACES_PER_REQUEST * SPANS_PER_TRACE;
    const errors = result.errors === 0 ? "" : ` ${result.errors} errors: ${result.firstError}.`;
    return (
      `MLflow's server over the same PostgreSQL, the same spans by OTLP at 8 connections: ${(sent / result.seconds).toFixed(0)} spans/s, ` +
      `p50 ${result.p50.toFixed(0)} and p95 ${result.p95.toFixed(0)} ms, ${(((cpu[1]! - cpu[0]!) * 1e6) / sent).toFixed(0)} CPU µs a span ` +
      `(server and PostgreSQL), ${(bytes / spans).toFixed(0)} bytes a span on the disk.${errors}`
    );
  } finally {
    await owner.end();
    await server.stop();
  }
}
