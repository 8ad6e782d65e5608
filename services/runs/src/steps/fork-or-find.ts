import { notFound } from "@tidemark/errors";
import { keyReused, type Tx } from "@tidemark/pg";
import type { Plans } from "@tidemark/plans";
import type { Caller } from "@tidemark/requests";
import { insertRun, takeNewRunId, takeRunId } from "../create/new-runs.sql.ts";
import { readDocument } from "../documents/exact-json.rules.ts";
import { forkRunId } from "../domain/fork-run-id.ts";
import { forkedRun, type ForkWish } from "../domain/fork.ts";
import { resolveProject } from "../projects/resolve-project.ts";
import { findRun, type RunRow } from "../read/runs.sql.ts";
import { findForkFingerprint } from "../store/find-fork-fingerprint.ts";
import { readClock } from "../store/read-clock.ts";

/** A fork to make of a run that the caller may see. */
export type Fork = {
  readonly source: RunRow;
  readonly wish: ForkWish;
  /** Idempotency-Key of the request; empty: none. */
  readonly key: string;
  /** Of the request. */
  readonly fingerprint: Uint8Array;
};

/** A child, and whether an earlier request with the same key made it. */
export type Child = { readonly row: RunRow; readonly known: boolean };

/** What making runs needs besides the database. */
export type ForkDeps = { readonly plans: Plans | undefined; readonly newId: () => string };

/**
 * Makes a child of a run, or finds the one that this key made when the record of the key was still
 * kept: the id of a keyed child follows from its key. A client may have given that id to a run of its
 * own; then the child gets a random one, and is found for as long as the record is kept.
 * @throws idempotency_key_reused, not_found for the artifact, bad_request, payment_required,
 *   plan_limit_exceeded
 */
export async function forkOrFind(tx: Tx, deps: ForkDeps, caller: Caller, fork: Fork): Promise<Child> {
  const { orgId } = caller;
  let id = fork.key === "" ? undefined : forkRunId(orgId, fork.key);
  if (id !== undefined && !(await takeRunId(tx, orgId, id))) {
    const made = await findForkFingerprint(tx, orgId, id);
    if (made !== undefined && made !== null) {
      if (Buffer.compare(made, fork.fingerprint) !== 0) throw keyReused();
      return { row: await readChild(tx, orgId, id), known: true };
    }
    id = undefined;
  }
  // There can be no artifact yet that a run could be forked from.
  if (fork.wish.checkpointArtifactId !== undefined) throw notFound("artifact");
  const runId = id ?? (await takeNewRunId(tx, deps.newId, orgId));
  return { row: await insertChild(tx, deps, caller, fork, runId), known: false };
}

async function insertChild(
  tx: Tx,
  { plans, newId }: ForkDeps,
  caller: Caller,
  { source, wish, key, fingerprint }: Fork,
  id: string,
): Promise<RunRow> {
  const project = { name: source.project, description: undefined, newId: newId(), run: true };
  const { id: projectId } = await resolveProject(tx, caller, plans, project);
  const at = await readClock(tx);
  const config = readDocument(Buffer.from(source.config), "config");
  return insertRun(tx, caller.orgId, {
    ...forkedRun({ ...source, config }, wish, at),
    id,
    projectId,
    nameWords: "",
    createFingerprint: undefined,
    fork: {
      parentRunId: source.id,
      step: wish.step,
      artifactId: undefined,
      fingerprint: key === "" ? undefined : fingerprint,
      at,
    },
  });
}

async function readChild(tx: Tx, orgId: string, runId: string): Promise<RunRow> {
  const row = await findRun(tx, orgId, runId, undefined);
  if (row === undefined) throw new Error("a child that exists cannot be seen");
  return row;
}
