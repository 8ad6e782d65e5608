import { AppError } from "@tidemark/errors";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import type { StopActor } from "@tidemark/run-state";

/** Who asks about runs. */
export type RunCaller = {
  readonly orgId: string;
  /** The one project that the caller may see; undefined: all of the organization. */
  readonly projectId: string | undefined;
  readonly planTier: string;
  /** As whom the caller asks runs to stop. */
  readonly actor: StopActor;
};

/** Reads the identity that the gateway attached. @throws unauthenticated when the call has no organization */
export function runCaller({ identity }: Call): RunCaller {
  if (identity === undefined || identity.orgId === "") {
    throw new AppError("unauthenticated", "this call needs the credentials of an organization");
  }
  const { orgId, projectId, planTier, kind } = identity;
  return { orgId, projectId: projectId === "" ? undefined : projectId, planTier, actor: actorOf(kind) };
}

function actorOf(kind: CallerKind): StopActor {
  if (kind === CallerKind.SESSION) return "user";
  return kind === CallerKind.API_KEY ? "api_key" : "unknown";
}
