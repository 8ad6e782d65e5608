// Creates a run, writes metrics to it and reads an error, as an internal service does.
//
//   export RUNS_ADDRESS=127.0.0.1:8082 INGEST_ADDRESS=127.0.0.1:8082 TIDEMARK_INTERNAL_TOKEN=... ORG_ID=...
//   node write-metrics.mjs

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const { RUNS_ADDRESS, INGEST_ADDRESS, TIDEMARK_INTERNAL_TOKEN, ORG_ID } = process.env;

const definitions = loadSync(
  ["tidemark/runs/v1/runs.proto", "tidemark/ingest/v1/ingest.proto", "google/rpc/status.proto"],
  { includeDirs: [join(import.meta.dirname, "../../proto"), import.meta.dirname], enums: String, longs: Number },
);
const { tidemark } = grpc.loadPackageDefinition(definitions);
const plaintext = grpc.credentials.createInsecure();
const runs = new tidemark.runs.v1.RunsService(RUNS_ADDRESS, plaintext);
const ingest = new tidemark.ingest.v1.IngestService(INGEST_ADDRESS, plaintext);

/** For whom a call is made: for a user's request, the result of that user's authentication. */
const identity = definitions["tidemark.common.v1.Identity"].serialize({
  orgId: ORG_ID,
  kind: "CALLER_KIND_API_KEY",
  scopes: ["sdk:ingest", "export:read"],
  planTier: "premium",
  billingState: "paid_active",
});

/** One attempt, which the server gives up on at the deadline, too. */
function attempt(client, method, request, deadline) {
  const metadata = new grpc.Metadata();
  metadata.set("tidemark-internal-token", TIDEMARK_INTERNAL_TOKEN);
  metadata.set("tidemark-identity-bin", identity);
  return promisify(client[method].bind(client))(request, metadata, { deadline });
}

/** The ErrorDetail of a failed call; undefined when the call failed on its way. */
function detailOf(error) {
  const [bytes] = error.metadata?.get("grpc-status-details-bin") ?? [];
  const { details = [] } = bytes === undefined ? {} : definitions["google.rpc.Status"].deserialize(bytes);
  const found = details.find(({ type_url: type }) => type.endsWith("/tidemark.common.v1.ErrorDetail"));
  return found && definitions["tidemark.common.v1.ErrorDetail"].deserialize(found.value);
}

const repeatable = new Set([grpc.status.UNAVAILABLE, grpc.status.RESOURCE_EXHAUSTED]);

/**
 * A call that may be repeated until the deadline: a read, or a write that carries an idempotency key or an id chosen
 * here. The wait is the one that the server names, else it grows.
 */
async function call(client, method, request, seconds = 10) {
  const deadline = Date.now() + seconds * 1000;
  for (let wait = 100; ; wait *= 2) {
    try {
      return await attempt(client, method, request, deadline);
    } catch (error) {
      const detail = detailOf(error);
      const again = repeatable.has(error.code) || detail?.reason === "idempotency_in_progress";
      const waitMs = (detail?.retryAfterSeconds || 0) * 1000 || wait * (0.5 + Math.random());
      if (!again || Date.now() + waitMs >= deadline) throw error;
      await pause(waitMs);
    }
  }
}

const id = randomUUID();
const { run } = await call(runs, "CreateRun", { id, project: "grpc", configJson: Buffer.from('{"lr":0.001}') });
console.log(`run ${run.name} of project ${run.project} is ${run.status}`);

// Two keys at three steps: values by key, then by step.
const columns = { keys: ["accuracy", "loss"], steps: [0, 1, 2], values: [0.1, 0.5, 0.7, 2.3, 1.2, 0.8] };
const write = { runId: id, idempotencyKey: randomUUID(), columns };
const first = await call(ingest, "AppendMetrics", write);
console.log(`inserted ${first.inserted}, replayed ${first.replayed ?? false}`);
const second = await call(ingest, "AppendMetrics", write);
console.log(`inserted ${second.inserted}, replayed ${second.replayed ?? false}`);

try {
  await call(ingest, "AppendMetrics", { ...write, runId: randomUUID(), idempotencyKey: randomUUID() });
} catch (error) {
  console.log(`${grpc.status[error.code]}, reason ${detailOf(error)?.reason}: ${error.details}`);
}
runs.close();
ingest.close();
