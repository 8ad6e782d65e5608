import { openSender, type Sender, type Shot } from "../frame/sender.ts";
import type { BenchStack } from "../frame/stack.ts";

/** An organization with a normal load. */
export type Neighbor = { readonly orgId: string; readonly runId: string; readonly sender: Sender };

const CONNECTIONS = 32;

/** Makes an organization with a run that it logs to. */
export async function openNeighbor({ stack }: BenchStack): Promise<Neighbor> {
  const { orgId, key, api } = await stack.organization();
  const made = await api.post("/runs", { project: "work" });
  const runId = made.json.run.id as string;
  return { orgId, runId, sender: openSender({ baseUrl: stack.baseUrl, key }, CONNECTIONS) };
}

/** The actions of a neighbor, in turn: logs twice, polls, lists its runs, searches them, reads a chart. */
const kinds: readonly ((runId: string, index: number) => Shot)[] = [
  logStep,
  (runId) => ({ method: "GET", path: `/api/runs/${runId}/stop-signal` }),
  () => ({ method: "GET", path: "/runs?limit=50" }),
  logStep,
  () => ({ method: "GET", path: "/api/runs/summary?limit=25&q=lion" }),
  (runId) => ({
    method: "POST",
    path: "/api/metrics/series",
    body: JSON.stringify({ key: "loss", run_ids: [runId], limit: 1000 }),
  }),
];

function logStep(runId: string, index: number): Shot {
  const metrics = { loss: 1 / (index + 1), accuracy: index };
  const body = JSON.stringify({ step: index, timestamp: new Date().toISOString(), metrics });
  return { method: "POST", path: `/runs/${runId}/metrics`, body };
}

/** Sends the request of this number, of one neighbor after the other. */
export async function actNext(neighbors: readonly Neighbor[], index: number): Promise<void> {
  const { sender, runId } = neighbors[index % neighbors.length]!;
  await sender.send(kinds[Math.floor(index / neighbors.length) % kinds.length]!(runId, index));
}
