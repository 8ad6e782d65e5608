import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { isAppError, notFound, type AppError } from "@tidemark/errors";
import { keyReused, withIdempotency, type Tx } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { ForkRunResponseSchema, type ForkRunResponse } from "@tidemark/proto/runs/v1/runs";
import { callerOf, pathId, throwFault, type Caller } from "@tidemark/requests";
import { fingerprintInTurns, readDocumentInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import { insertRun, takeNewRunId, takeRunId } from "../create/new-runs.sql.ts";
import { newRunBytes } from "../documents/run-notes.rules.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { NO_METRICS } from "../metrics/aggregates.rules.ts";
import { resolveProject } from "../projects/resolve-project.ts";
import type { Staleness } from "../life/staleness.rules.ts";
import { encodeRunSummary } from "../read/encode-rows.ts";
import { findRun, requireRun, type RunRow } from "../read/runs.sql.ts";
import { NO_ARTIFACTS } from "../read/summaries.sql.ts";
import { findArtifact, findForkFingerprint, readClock } from "./lineage.sql.ts";
import {
  comparedFork,
  forkedRun,
  forkRunId,
  refuseLargeFork,
  refuseReservedKeys,
  refuseStep,
  withCheckpoint,
  type Checkpoint,
  type ForkWish,
} from "./fork.rules.ts";

type Request = Parameters<RunsHandlers["forkRun"]>[0];

/**
 * Creates a child of a run in its project (API specification, POST /api/runs/{run_id}/forks). A
 * repeat under one key gets the stored answer or, once that has expired, the current child. Every
 * repeat checks again whether the caller may see the parent.
 * @throws not_found, then bad_request, then idempotency_key_reused, idempotency_in_progress,
 *   not_found for the artifact, payment_required, plan_limit_exceeded
 */
export function forkRun(deps: RunsDeps): RunsHandlers["forkRun"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { idempotencyKey: key } = request;
    const runId = pathId(request.runId, "run");
    const wish = await readWish(request);
    const fingerprint = isAppError(wish) ? new Uint8Array() : await fingerprintInTurns(comparedFork(runId, wish));
    let source: RunRow | undefined;
    let known = false;
    let childId = "";
    const { reply, replayed } = await withIdempotency(
      deps.db,
      caller.orgId,
      key === "" || isAppError(wish)
        ? undefined
        : { key, route: "POST /api/runs/{run_id}/forks", parts: [runId, fingerprint] },
      async (tx) => {
        source = await findRun(tx, caller.orgId, runId, caller.projectId);
        if (source === undefined) throw notFound("run");
        if (isAppError(wish)) throw wish;
      },
      async (tx) => {
        if (source === undefined || isAppError(wish)) throw new Error("a fork was not checked");
        const child = await forkOrFind(tx, deps, caller, { source, wish, key, fingerprint });
        known = child.known;
        childId = child.row.id;
        return toBinary(ForkRunResponseSchema, answerOf(source, child.row, deps.staleness));
      },
    );
    if (!replayed && !known && source !== undefined) {
      const { org_id: orgId, project_id: projectId } = source;
      deps.noteChange({ orgId, projectId, runId: childId, kind: ChangeKind.RUN });
    }
    return { ...fromBinary(ForkRunResponseSchema, reply), replayed: replayed || known };
  };
}

/** Reads the body, or returns the fault that is thrown once the run was found. */
async function readWish(request: Request): Promise<ForkWish | AppError> {
  try {
    throwFault(request.bodyFault);
    const metadata = await readDocumentInTurns(request.metadataJson, "metadata");
    refuseReservedKeys(metadata);
    refuseStep(request.step);
    return {
      name: request.name,
      step: request.step,
      checkpointArtifactId: request.checkpointArtifactId,
      inheritConfig: request.inheritConfig ?? true,
      configOverrides: await readDocumentInTurns(request.configOverridesJson, "config_overrides"),
      tags: request.tags,
      notes: request.notes,
      metadata,
    };
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
}

function answerOf(source: RunRow, child: RunRow, staleness: Staleness): ForkRunResponse {
  const where = child.forked_from_step === null ? "" : ` at step ${child.forked_from_step}`;
  return create(ForkRunResponseSchema, {
    run: encodeRunSummary({ ...child, ...NO_METRICS, ...NO_ARTIFACTS }, staleness),
    message: `forked from ${source.name}${where}; training is not started, metrics and artifacts are not copied`,
  });
}

/** A fork to create of a run that the caller may see. */
type Fork = {
  readonly source: RunRow;
  readonly wish: ForkWish;
  /** Idempotency-Key of the request; empty when it has none. */
  readonly key: string;
  /** `forkFingerprint` of the request. */
  readonly fingerprint: Uint8Array;
};

/** A child, and whether an earlier request with the same key created it. */
type Child = { readonly row: RunRow; readonly known: boolean };

/**
 * Creates a child of a run, or finds the child that an earlier request with this key created, even after
 * the record of the key has expired: the id of a keyed child follows from its key. If a client has given
 * that id to another run, the child gets a random id and is found only while the record is kept.
 * @throws idempotency_key_reused, not_found for the artifact, bad_request, payment_required,
 *   plan_limit_exceeded
 */
async function forkOrFind(
  tx: Tx,
  deps: Pick<RunsDeps, "plans" | "storageGate" | "newId">,
  caller: Caller,
  fork: Fork,
): Promise<Child> {
  const { orgId } = caller;
  let id = fork.key === "" ? undefined : forkRunId(orgId, fork.key);
  if (id !== undefined && !(await takeRunId(tx, orgId, id))) {
    const stored = await findForkFingerprint(tx, orgId, id);
    if (stored !== undefined && stored !== null) {
      if (Buffer.compare(stored, fork.fingerprint) !== 0) throw keyReused();
      return { row: await requireRun(tx, orgId, id), known: true };
    }
    id = undefined;
  }
  const checkpoint = await findCheckpoint(tx, orgId, fork);
  const wish = checkpoint === undefined ? fork.wish : withCheckpoint(fork.wish, checkpoint);
  const runId = id ?? (await takeNewRunId(tx, deps.newId, orgId));
  return { row: await insertChild(tx, deps, caller, { ...fork, wish }, runId, checkpoint), known: false };
}

/** Returns the artifact that the fork names. @throws not_found unless it belongs to the parent */
async function findCheckpoint(tx: Tx, orgId: string, { source, wish }: Fork): Promise<Checkpoint | undefined> {
  if (wish.checkpointArtifactId === undefined) return undefined;
  const artifact = await findArtifact(tx, orgId, wish.checkpointArtifactId);
  if (artifact?.runId !== source.id) throw notFound("artifact");
  return artifact;
}

async function insertChild(
  tx: Tx,
  { plans, storageGate, newId }: Pick<RunsDeps, "plans" | "storageGate" | "newId">,
  caller: Caller,
  { source, wish, key, fingerprint }: Fork,
  id: string,
  checkpoint: Checkpoint | undefined,
): Promise<RunRow> {
  const project = { name: source.project, description: undefined, newId: newId(), runs: 1 };
  const { id: projectId } = await resolveProject(tx, caller, plans, project);
  const at = await readClock(tx);
  const inherited = await readDocumentInTurns(Buffer.from(source.config), "config");
  const child = forkedRun({ ...source, config: inherited }, wish, at, checkpoint);
  const config = await writeCanonicalInTurns(child.config);
  const metadata = await writeCanonicalInTurns(child.metadata);
  refuseLargeFork({ config, metadata });
  await storageGate.admit(caller, newRunBytes({ ...child, config, metadata }));
  return insertRun(tx, caller.orgId, {
    ...child,
    config,
    metadata,
    id,
    projectId,
    nameWords: "",
    createFingerprint: undefined,
    fork: {
      parentRunId: source.id,
      step: wish.step,
      artifactId: wish.checkpointArtifactId,
      fingerprint: key === "" ? undefined : fingerprint,
      at,
    },
  });
}
