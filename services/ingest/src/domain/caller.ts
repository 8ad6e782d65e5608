import { notFound } from "@tidemark/errors";

/** Who asks, as far as visibility goes: an organization and, for keys bound to one, its project. */
export type Caller = {
  readonly orgId: string;
  /** The only project that the caller may see; null for all of the organization's. */
  readonly projectId: string | null;
};

/** Where a run belongs. Neither ever changes. */
export type RunRef = { readonly orgId: string; readonly projectId: string };

/** Whether the caller may know that the run exists. */
export function canSee(caller: Caller, run: RunRef): boolean {
  return run.orgId === caller.orgId && (caller.projectId === null || run.projectId === caller.projectId);
}

/** 404 for a run that does not exist or that the caller may not see: the two cannot be told apart. */
export function runNotFound(): Error {
  return notFound("run");
}
