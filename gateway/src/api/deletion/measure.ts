import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { Removed } from "./deletion.ts";

/** Returns what would be removed with a run, all runs of a project, or with no scope all of the caller's organization, as the services have it now. */
export async function measureRemoved(
  clients: Clients,
  scope: { readonly runId: string } | { readonly projectId: string } | Record<string, never>,
  call: Call,
): Promise<Removed> {
  const [data, artifacts, traces] = await Promise.all([
    clients.ingestRead.measureRemoval(scope, call),
    clients.artifacts.measureRemoval(scope, call),
    clients.traces.measureRemoval(scope, call),
  ]);
  return {
    runs: data.runs,
    points: data.points,
    lines: data.lines,
    attributes: data.attributes,
    objects: data.objects,
    artifacts: artifacts.artifacts,
    traces: traces.traces,
    bytes: data.bytes + artifacts.bytes + traces.bytes,
  };
}
