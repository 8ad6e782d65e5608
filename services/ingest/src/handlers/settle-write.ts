import { keyReused } from "@tidemark/pg";
import { runNotFound, type Caller } from "../domain/caller.ts";
import type { RunDirectory } from "../store/run-directory.ts";
import type { WriteOutcome } from "../store/write-outcome.ts";

/**
 * Makes the answer of a keyed write, and keeps what the write found out about the run.
 * @throws not_found, idempotency_key_reused
 */
export function settleWrite(
  outcome: WriteOutcome,
  runs: RunDirectory,
  caller: Caller,
  runId: string,
): { inserted: number; replayed: boolean } {
  if (outcome.outcome === "not_found") throw runNotFound();
  if (outcome.outcome === "reused") throw keyReused();
  const { inserted, projectId } = outcome;
  if (projectId !== null) runs.learn(runId, { orgId: caller.orgId, projectId });
  return { inserted, replayed: outcome.outcome === "replayed" };
}
