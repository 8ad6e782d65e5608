import { randomUUID } from "node:crypto";
import type { Api } from "../stack/client.ts";
import { EXPORTED_PROJECT, FORKS, OBJECTS, type Tenant, TRACE_ID, TRACES } from "./read.ts";

const STEPS = 1500;

function traceEvents(): object[] {
  return Array.from({ length: TRACES }, (_, i) => ({
    trace_id: i === 0 ? TRACE_ID : (i + 1).toString(16).padStart(32, "0"),
    span_id: "1".repeat(16),
    event_id: randomUUID(),
    sequence: 1,
    event_kind: "finished",
    name: i === 0 ? "the oldest" : "rollout",
    kind: i === 0 ? "tool" : "rollout",
    status: i === 0 ? "error" : "ok",
    started_at: new Date(Date.now() - (TRACES - i) * 60_000).toISOString(),
    step: i,
  }));
}

const EXPORTED_RUNS = 10;

/** Makes a run with a few rows of each kind that exports have. */
async function exportedRun(api: Api): Promise<string> {
  const id = (await api.post("/runs", { project: EXPORTED_PROJECT, config: { lr: 1 } })).json.run.id as string;
  const points = [0, 1].map((step) => ({ step, metrics: { loss: step, lr: 0.1 } }));
  await api.post(`/runs/${id}/metrics/batch`, { points });
  await api.post(`/api/runs/${id}/logs`, { lines: [{ line_number: 1, message: "epoch 1" }] });
  await api.post(`/api/runs/${id}/attributes`, { attributes: [{ path: "notes/1", type: "config", value: 1 }] });
  const table = { key: "eval", kind: "table", step: 0, rows: [{ i: 1 }] };
  await api.post(`/api/runs/${id}/objects`, table);
  return id;
}

/** Adds a run with some of everything to an organization. */
export async function fillRuns(api: Api): Promise<Omit<Tenant, "artifacts">> {
  const made = await api.post("/runs", { project: "rl-control", config: { lr: 1 } });
  const full = made.json.run.id as string;
  for (let from = 0; from < STEPS; from += 500) {
    const points = Array.from({ length: 500 }, (_, i) => ({
      step: from + i,
      metrics: { loss: 1 / (from + i + 1), lr: 0.1 },
    }));
    await api.post(`/runs/${full}/metrics/batch`, { points });
  }
  for (let from = 1; from < 200; from += 50) {
    const lines = Array.from({ length: 50 }, (_, i) => ({ line_number: from + i, message: `epoch ${from + i}` }));
    await api.post(`/api/runs/${full}/logs`, { lines });
  }
  for (let from = 0; from < 300; from += 100) {
    const attributes = Array.from({ length: 100 }, (_, i) => ({ path: `notes/${from + i}`, type: "config", value: i }));
    await api.post(`/api/runs/${full}/attributes`, { attributes });
  }
  const rows = Array.from({ length: 250 }, (_, i) => ({ i, text: `row ${i}` }));
  let table = 0;
  for (let step = 0; step < OBJECTS; step += 1) {
    const posted = await api.post(`/api/runs/${full}/objects`, { key: `eval/${step % 5}`, kind: "table", step, rows });
    table = posted.json.object.id as number;
  }
  const texts = Array.from({ length: 300 }, (_, i) => ({
    path: "console/stdout",
    type: "string_series",
    value: `line ${i}`,
  }));
  await api.post(`/api/runs/${full}/attributes`, { attributes: texts });
  for (let step = 0; step < 20; step += 1) {
    await api.post(`/runs/${full}/rank-metrics`, { metrics: { loss: step }, step, rank: step % 4, world_size: 4 });
  }
  await api.post(
    `/api/runs/${full}/traces/events`,
    { events: traceEvents() },
    { headers: { "idempotency-key": full } },
  );
  for (let fork = 0; fork < FORKS; fork += 1) await api.post(`/api/runs/${full}/forks`, {});
  const exported: string[] = [];
  for (let run = 0; run < EXPORTED_RUNS; run += 1) exported.push(await exportedRun(api));
  const first = await api.get("/api/runs/summary?limit=10&project=rl-control");
  const page = (first.json.runs as { id: string }[]).map(({ id }) => id);
  return {
    api,
    full,
    projectId: made.json.run.project_id as string,
    table,
    page,
    exported,
    cursor: first.json.next_cursor as string,
  };
}
