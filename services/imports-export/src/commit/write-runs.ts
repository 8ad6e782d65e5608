import { IMPORT_LIMITS } from "@tidemark/limits";
import type { SourceRun } from "../content/content.rules.ts";
import type { CommitClients } from "./clients.ts";
import { BYTES_TOGETHER_MAX, slicesOf } from "./slices.rules.ts";
import type { CallWithRetry } from "../jobs/call-with-retry.ts";

/** A run with the id that it gets. */
export type NewRun = { readonly runId: string; readonly run: SourceRun };

const utf8 = new TextEncoder();

/** Stores runs. A repeat changes nothing. */
export async function writeRuns(
  { runs }: Pick<CommitClients, "runs">,
  callWithRetry: CallWithRetry,
  projectId: string,
  wanted: readonly NewRun[],
): Promise<void> {
  const weightOf = ({ run }: NewRun): number => 2 * (run.config.length + run.metadata.length);
  for (const slice of slicesOf(wanted, IMPORT_LIMITS.runsTogetherMax, BYTES_TOGETHER_MAX, weightOf)) {
    const messages = slice.map(({ runId, run }) => ({
      id: runId,
      name: run.name,
      status: run.status,
      configJson: utf8.encode(run.config),
      tags: [...run.tags],
      metadataJson: utf8.encode(run.metadata),
      ...(run.startedUs === null ? {} : { startedUs: run.startedUs }),
      ...(run.finishedUs === null ? {} : { finishedUs: run.finishedUs }),
    }));
    await callWithRetry((call) => runs.importRuns({ projectId, runs: messages }, call));
  }
}
