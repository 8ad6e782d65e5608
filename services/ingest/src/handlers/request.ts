import { AppError, badRequest } from "@tidemark/errors";
import type { FieldFault } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import { runNotFound, type Caller } from "../domain/caller.ts";
import type { RunDirectory } from "../store/run-directory.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Who asks. @throws unauthenticated for a call without an organization */
export function callerOf(call: Call): Caller {
  const { identity } = call;
  if (identity === undefined || identity.orgId === "") {
    throw new AppError("unauthenticated", "credentials are required");
  }
  return { orgId: identity.orgId, projectId: identity.projectId || null };
}

/** A run id of a path in lower case. @throws not_found for a text that cannot be one */
export function runIdOf(text: string): string {
  if (!UUID.test(text)) throw runNotFound();
  return text.toLowerCase();
}

/** Reports the fault that the gateway found in body or query, now that the run was found. @throws bad_request */
export function throwFault(fault: FieldFault | undefined): void {
  if (fault !== undefined) throw badRequest(fault.text, fault.field || undefined);
}

/**
 * Reports the fault that the gateway found in the body, if it did, once the run is known to be the
 * caller's: a missing row goes before a bad body.
 * @throws not_found, bad_request
 */
export async function refuseFaultyBody(
  fault: FieldFault | undefined,
  runs: RunDirectory,
  caller: Caller,
  runId: string,
): Promise<void> {
  if (fault === undefined) return;
  await runs.require(caller, [runId]);
  throwFault(fault);
}
