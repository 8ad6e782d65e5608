import type { ChangePublisher, NotedChange } from "@tidemark/bus";
import { notFound, badRequest } from "@tidemark/errors";
import { keyReused, idempotencyHashes, withIdempotency, type Db, type Tx } from "@tidemark/pg";
import type { FieldFault } from "@tidemark/proto/common/v1/common";
import { throwFault, type Caller, type RunDirectory } from "@tidemark/requests";
import type { WriteOutcome } from "./writes.rules.ts";
import { RESTORE_LIMITS } from "@tidemark/limits";

/**
 * Throws the fault that the gateway found in the body, if it found one, after the run was found: a missing run takes precedence over a bad body.
 * Without a fault it makes no query, because the statement that stores the write looks for the run itself.
 * @throws not_found, bad_request
 */
export async function throwBodyFault(
  fault: FieldFault | undefined,
  runs: RunDirectory,
  caller: Caller,
  runId: string,
): Promise<void> {
  if (fault === undefined) return;
  await runs.require(caller, [runId]);
  throwFault(fault);
}

/**
 * Makes the reply to a write from its outcome, and keeps what the write found out about the run.
 * @throws not_found, idempotency_key_reused
 */
export function replyToWrite(
  outcome: WriteOutcome,
  runs: RunDirectory,
  caller: Caller,
  runId: string,
): { inserted: number; replayed: boolean } {
  if (outcome.outcome === "not_found") throw notFound("run");
  if (outcome.outcome === "reused") throw keyReused();
  const { inserted, projectId } = outcome;
  if (projectId !== null) runs.learn(runId, { orgId: caller.orgId, projectId });
  return { inserted, replayed: outcome.outcome === "replayed" };
}

/**
 * Notes the changes of a committed write. A known run is noted before this returns to the event loop; one that was deleted
 * meanwhile is not noted, and never fails the write.
 */
export function noteWrite(
  deps: { readonly runs: RunDirectory; readonly noteChange: ChangePublisher["note"] },
  caller: Caller,
  change: Pick<NotedChange, "runId" | "kind" | "keys" | "step" | "line">,
): void {
  const { orgId } = caller;
  void deps.runs.projectOf(caller, change.runId).then(
    (projectId) => deps.noteChange({ ...change, orgId, projectId }),
    () => {},
  );
}

/** Returns the highest of some steps, some of which may be absent. */
export function highestStep(steps: readonly (number | undefined)[]): number | undefined {
  let highest: number | undefined;
  for (const step of steps) if (step !== undefined && !(highest !== undefined && step <= highest)) highest = step;
  return highest;
}

/** Content that is stored once under the name of a request. */
type NamedWork = {
  readonly orgId: string;
  readonly name: string;
  /** Identifies the content: the same name has the same content. */
  readonly parts: readonly (string | Uint8Array)[];
};

const ROUTE = "restore";
const NOTHING = new Uint8Array();

/** Runs work once for a name, in one transaction with the record of the name. @throws bad_request, idempotency_key_reused, idempotency_in_progress */
export async function restoreOnce(
  db: Db,
  { orgId, name, parts }: NamedWork,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  const request = { key: requireName(name), route: ROUTE, parts };
  await withIdempotency(
    db,
    orgId,
    request,
    () => Promise.resolve(),
    async (tx) => {
      await work(tx);
      return NOTHING;
    },
  );
}

/** Returns the hashes of a part of a request that is stored separately. @throws bad_request */
export function hashesOfPart(name: string, parts: readonly (string | Uint8Array)[]) {
  return idempotencyHashes({ key: requireName(name), route: ROUTE, parts });
}

function requireName(name: string): string {
  if (name.length < 1 || name.length > RESTORE_LIMITS.nameCharactersMax) {
    throw badRequest(`name must have 1 to ${RESTORE_LIMITS.nameCharactersMax} characters`, "name");
  }
  return name;
}
