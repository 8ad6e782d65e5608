import { randomUUID } from "node:crypto";
import type { Api } from "./client.ts";

/** A route of the API's own description. */
export type Operation = { method: string; path: string };

/** Bodies that are accepted if the row in the path is the caller's own, by method and path. */
export const bodies: Record<string, unknown> = {
  "PATCH /runs/{run_id}": { status: "failed" },
  "PUT /api/runs/{run_id}/readme": { markdown: "x" },
  "POST /runs/{run_id}/metrics": { metrics: { a: 1 }, step: 0 },
  "POST /runs/{run_id}/metrics/batch": { points: [{ metrics: { a: 1 }, step: 0 }] },
  "POST /runs/{run_id}/rank-metrics": { metrics: { a: 1 }, step: 0, rank: 0, world_size: 1 },
  "POST /api/runs/{run_id}/logs": { lines: [{ line_number: 1, message: "x" }] },
  "POST /api/runs/{run_id}/attributes": { path: "p", type: "config", value: 1 },
  "POST /api/runs/{run_id}/objects": { key: "k", kind: "table", rows: [{ a: 1 }] },
  "POST /api/objects/{object_id}/rows": { rows: [{ a: 2 }], offset: 1 },
  "POST /api/runs/{run_id}/artifacts": { name: "x" },
  "POST /api/runs/{run_id}/artifacts/upload": { name: "x", content_base64: "AAAA" },
  "POST /api/runs/{run_id}/artifact-inputs": { ref: "x" },
  "POST /api/runs/{run_id}/artifact-uploads": {
    collection: { name: "x", type: "file" },
    manifest: { entries: [{ path: "x", size_bytes: 1, sha256: "0".repeat(64) }] },
  },
  "POST /api/runs/{run_id}/traces/events": {
    events: [
      {
        trace_id: "1".repeat(32),
        span_id: "1".repeat(16),
        event_id: randomUUID(),
        sequence: 0,
        event_kind: "started",
        name: "x",
        kind: "custom",
        status: "ok",
        started_at: "2026-01-01T00:00:00Z",
      },
    ],
  },
  "POST /api/runs/{run_id}/stop-ack": { stop_request_id: "x", state: "completed" },
  "POST /api/orgs/{org_id}/api-keys": { name: "x" },
  "POST /api/orgs/{org_id}/seats": { email: "x@y.test", role: "member" },
  "POST /api/orgs/{org_id}/invitations": { email: "x@y.test", role: "member" },
};

/** Returns all routes that the API describes. */
export async function operations(api: Api): Promise<Operation[]> {
  const { json } = await api.get("/openapi.json");
  return Object.entries(json.paths as Record<string, Record<string, unknown>>).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ["get", "post", "put", "patch", "delete"].includes(method))
      .map((method) => ({ method: method.toUpperCase(), path })),
  );
}
