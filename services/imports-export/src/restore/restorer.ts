import { startRounds, startRunner, finishInTurns, mapInTurns } from "@tidemark/work";
import type { Db, Tx } from "@tidemark/pg";
import { RESTORE_LIMITS } from "@tidemark/limits";
import {
  listOldArchives,
  lockArchive,
  removeArchive,
  type ArchiveName,
  findArchive,
  listFacts,
  loadPiece,
} from "./archives.sql.ts";
import {
  listDueArchives,
  failArchive,
  finishArchive,
  holdArchive,
  keepIds,
  markPiece,
  renewArchiveLease,
  type HeldArchive,
} from "./restore.sql.ts";
import { fromBinary } from "@bufbuild/protobuf";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import type { Log } from "@tidemark/telemetry";
import { createCallWithRetry, LEASE_SECONDS, runHeld, type CallWithRetry } from "../jobs/run-held.ts";
import type { JobFault } from "../jobs/job.rules.ts";
import type { Readers } from "../reading/readers.ts";
import { judgeArchive, unknownWarnings, type ArchiveFacts } from "./archive-facts.rules.ts";
import { newIdsOf, pack, unpack, type PlacedLine, type Replaced } from "./new-ids.rules.ts";
import type { RestoreClients } from "./line-writer.ts";
import { isLineFault, type PieceFacts } from "./piece-facts.rules.ts";
import { planIds } from "./plan-ids.ts";
import { createWriters } from "./writers.ts";

/** How often a process looks for restores that no process works on. The process that took the last piece does not wait for this. */
const LOOK_MS = 2000;
const SWEEP_MS = 600_000;
const OLD_TOGETHER = 100;

/** Dependencies of the restorer of a process. */
type RestorerDeps = RunRestoreDeps & {
  readonly workerDb: Db;
  /** Restores that a process works on simultaneously, of different organizations. */
  readonly restoresMax: number;
};

/** The restores of a process. */
type Restorer = {
  /** Begins a restore, now or when there is room. */
  begin(archive: ArchiveName): void;
  /** Takes no more restores, and lets other processes continue its own after their current piece. */
  drain(): Promise<void>;
};

/** Starts to restore archives. */
export function startRestorer(deps: RestorerDeps): Restorer {
  const { workerDb, log, restoresMax } = deps;
  const onError = (error: unknown): void => log.warn("archives could not be worked on now", { error });
  const restores = startRunner<ArchiveName>({
    // By organization, so that none takes the turns of all others.
    keyOf: ({ orgId }) => orgId,
    jobsMax: restoresMax,
    lookMs: LOOK_MS,
    listDue: (jobsMax) => listDueArchives(workerDb, jobsMax),
    run: (archive, isStopped) => runRestore(deps, archive, isStopped),
    onError,
  });
  const sweeps = startRounds({ everyMs: SWEEP_MS, round: () => removeOldArchives(deps), onError });
  return {
    begin: (archive) => void restores.begin(archive),
    drain: async () => void (await Promise.all([restores.drain(), sweeps.stop()])),
  };
}

/** Removes the remains of abandoned archives, and the answers of old ones. */
async function removeOldArchives({ db, workerDb }: RestorerDeps): Promise<void> {
  for (const name of await listOldArchives(workerDb, RESTORE_LIMITS.keptHours, OLD_TOGETHER)) {
    await db.withTenant(name.orgId, async (tx) => {
      const archive = await lockArchive(tx, name);
      if (archive !== undefined && archive.status !== "restoring") await removeArchive(tx, name);
    });
  }
}

/** Dependencies of restores. */
type RunRestoreDeps = {
  readonly db: Db;
  readonly clients: RestoreClients;
  readonly readers: Pick<Readers, "rows">;
  readonly log: Pick<Log, "info" | "warn">;
  /** Starts a call as the caller who asked for a restore. */
  readonly newCall: (identity: Identity) => Call;
};

/**
 * Works on a restore until it has ended, `isStopped` says so, or another process holds the lease; returns immediately when there is nothing to do.
 * Resolves to true if the restore has ended here, with success or failure.
 * Which rows get other ids is decided and kept before anything is written, so that a piece is the same however often it is written.
 */
async function runRestore(deps: RunRestoreDeps, name: ArchiveName, isStopped: () => boolean): Promise<boolean> {
  const archive = await deps.db.withTenant(name.orgId, (tx) => holdArchive(tx, name, LEASE_SECONDS));
  if (archive === undefined) return false;
  const held = {
    orgId: archive.orgId,
    what: "the restore",
    fields: { archive: archive.id },
    renew: (tx: Tx, seconds: number) => renewArchiveLease(tx, archive, seconds),
    work: (isOver: () => boolean) => work(deps, archive, isOver),
    fail: (tx: Tx, fault: JobFault) => failArchive(tx, archive, fault),
    faultOf: (error: unknown) =>
      isLineFault(error) ? { code: "archive_invalid", message: error.message, position: error.position } : undefined,
  };
  return runHeld(deps, held, isStopped);
}

async function work(deps: RunRestoreDeps, held: HeldArchive, isOver: () => boolean): Promise<boolean> {
  const { db, clients, readers, log, newCall } = deps;
  const { orgId, id } = held;
  const identity = fromBinary(IdentitySchema, held.identity);
  const callWithRetry = createCallWithRetry(() => newCall(identity), isOver);
  const packed = await db.readTenant(orgId, (tx) => listFacts(tx, held));
  const facts = await mapInTurns(packed, (piece) => unpack<PieceFacts>(piece));
  const archive = await finishInTurns(judgeArchive(facts));
  const read = async (piece: number): Promise<PlacedLine[]> => {
    const { content, firstLine } = await db.readTenant(orgId, (tx) => loadPiece(tx, held, piece));
    return readers.rows(orgId, content, firstLine);
  };
  const hasViews = identity.kind === CallerKind.SESSION && identity.userId !== "";
  let replaced: readonly Replaced[];
  if (held.ids === null) {
    replaced = await planIds({ clients, callWithRetry, id, facts, archive, hasViews, read });
    const warnings = unknownWarnings(archive.unknown);
    const views = archive.counts.view;
    if (views > 0 && !hasViews) {
      warnings.push(`${views} views were skipped: views belong to a user, and the archive was sent with a key`);
    }
    if (!(await db.withTenant(orgId, (tx) => keepIds(tx, held, pack(replaced), warnings)))) return false;
  } else replaced = unpack<Replaced[]>(held.ids);

  const writers = createWriters(clients, id, hasViews);
  const ids = newIdsOf(replaced);
  for (let piece = held.piecesDone; piece < held.pieces; piece++) {
    if (isOver()) return false;
    const warnings: string[] = [];
    let part = 0;
    const open = facts[piece - 1]?.openTrace;
    // The spans of a trace refer to it, also spans in another piece.
    const before = open === undefined ? [] : [{ number: 0, line: open }];
    for (const { write, lines } of writers.batchesOf([...before, ...(await read(piece))])) {
      warnings.push(...(await write(lines, `archive:${id}:${piece}:${part++}`, ids, callWithRetry)));
    }
    if (!(await db.withTenant(orgId, (tx) => markPiece(tx, held, piece + 1, warnings, LEASE_SECONDS)))) return false;
  }
  await finish(deps, held, { callWithRetry, archive, replaced, hasViews });
  log.info("an archive is restored", { org_id: orgId, archive: id });
  return true;
}

async function finish(
  { db, clients }: RunRestoreDeps,
  held: HeldArchive,
  restored: {
    readonly callWithRetry: CallWithRetry;
    readonly archive: ArchiveFacts;
    readonly replaced: readonly Replaced[];
    readonly hasViews: boolean;
  },
): Promise<void> {
  const { callWithRetry, archive, replaced, hasViews } = restored;
  const { orgId, id } = held;
  const { hashes } = await callWithRetry((call) => clients.artifacts.listMissingBytes({ archiveId: id }, call));
  await callWithRetry((call) => clients.ingest.forgetArchive({ archiveId: id }, call));
  const row = await db.readTenant(orgId, (tx) => findArchive(tx, held));
  const answer = {
    archive_id: id,
    counts: hasViews ? archive.counts : { ...archive.counts, view: 0 },
    replaced,
    missing_bytes: hashes,
    warnings: JSON.parse(row?.warnings ?? "[]") as string[],
  };
  await db.withTenant(orgId, (tx) => finishArchive(tx, held, pack(answer)));
}
