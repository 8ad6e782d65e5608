import type { RunChain, RunsService } from "@tidemark/proto/runs/v1/runs";
import type { Call, Client } from "@tidemark/rpc";
import type { ChartedRun, Source } from "./columns-plan.rules.ts";

/** The RPCs of the runs service that are used here. */
export type RunsOfCharts = Pick<Client<(typeof RunsService)["method"]>, "listRunOrigins" | "groupRuns">;

/**
 * Returns the sources of the points of runs. For forks, `lineage` adds the points of their ancestors up to the steps of the forks, as far as the caller may
 * see them; `isTimed` asks when the runs started. @throws not_found when the caller may not see one of the runs
 */
export async function chartedRuns(
  runs: Pick<RunsOfCharts, "listRunOrigins">,
  runIds: readonly string[],
  { lineage, isTimed }: { readonly lineage: boolean; readonly isTimed: boolean },
  call: Call,
): Promise<ChartedRun[]> {
  if (!lineage && !isTimed) return runIds.map((runId) => ({ chain: [{ runId, cutStep: Infinity }], startedUs: 0 }));
  const { chains } = await runs.listRunOrigins({ runIds: [...runIds], withAncestors: lineage }, call);
  return chains.map((chain) => ({ chain: sourcesOf(chain), startedUs: isTimed ? chain.runs[0]!.startedUs : 0 }));
}

/** Returns the sources of a run, the oldest ancestor first; points after the step of a fork are not part of it. */
function sourcesOf({ runs }: RunChain): Source[] {
  const sources: Source[] = [];
  let cutStep = Infinity;
  for (const { runId, forkedFromStep } of runs) {
    sources.unshift({ runId, cutStep });
    cutStep = Math.min(cutStep, forkedFromStep ?? cutStep);
  }
  return sources;
}
