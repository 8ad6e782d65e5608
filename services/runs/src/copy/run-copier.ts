import type { ChangePublisher } from "@tidemark/bus";
import { readDocumentInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import type { Db, Tx } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { Log } from "@tidemark/telemetry";
import { oneAtATime, underDeadline, type OneAtATime } from "@tidemark/work";
import { removeCopy } from "../removal/removed-rows.sql.ts";
import { copiedMetadata, isDone } from "./copies.rules.ts";
import {
  copyParts,
  delayCopy,
  finishCopy,
  keepProgress,
  listCopyingOrganizations,
  lockCopies,
  lockSource,
  type RunCopy,
} from "./run-copies.sql.ts";

/** Makes the copies of runs that were requested, in short transactions that any process continues. */
export type RunCopier = {
  /** Resolves when no copy of an organization waits, or after `patienceMs`; the work then continues. Never rejects. */
  readonly settle: (orgId: string, patienceMs: number) => Promise<void>;
  /** Continues work that other processes, or an earlier one, left unfinished. */
  readonly round: () => Promise<void>;
  /** Ends after the current transaction. */
  readonly stop: () => Promise<void>;
};

/** A transaction takes no further part, and no further copy, after this time: others may wait for the counters that it has changed. */
const STEP_MS = 100;
/** Copies that a transaction takes at most. */
const COPIES_MAX = 20;
/** Metrics, console lines and rank metrics of a run are one part, which may be some gigabytes. */
const PART_SECONDS_MAX = 600;
/** A step that failed is tried again after the first of these seconds, then after the second and so on. A copy that fails once more is given up. */
const RETRY_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300];

/** What a transaction has done: the copies that it completed, and one that it found impossible. */
type Step = {
  readonly copied: readonly RunCopy[];
  readonly impossible?: RunCopy;
  /** Where the next one goes on: behind this copy; undefined: none was left. */
  readonly after: string | undefined;
};

const NIL = "00000000-0000-0000-0000-000000000000";

/** Creates a copier. `db` runs as the service, `workerDb` as its worker. */
export function createRunCopier({
  db,
  workerDb,
  log,
  noteChange,
}: {
  readonly db: Db;
  readonly workerDb: Db;
  readonly log: Log;
  readonly noteChange: ChangePublisher["note"];
}): RunCopier {
  let isStopped = false;
  const works = new Map<string, OneAtATime<void>>();

  /** Works in one transaction, and has the copy that failed in it wait. */
  const step = async (orgId: string, after: string): Promise<Step> => {
    let current: RunCopy | undefined;
    try {
      return await db.withTenant(orgId, (tx) => stepOf(tx, orgId, { after, begin: (copy) => (current = copy) }));
    } catch (error) {
      if (current === undefined) throw error;
      const { id, failures } = current;
      const seconds = RETRY_SECONDS[failures];
      log.warn("a step of a copy of a run failed", { error, orgId, runId: id, failures });
      if (seconds === undefined) return { copied: [], impossible: current, after };
      await db.withTenant(orgId, (tx) => delayCopy(tx, orgId, id, seconds));
      return { copied: [], after };
    }
  };

  const work = async (orgId: string): Promise<void> => {
    try {
      // Not from the first one each time, where those are that are done. Those that were added behind are found by the second walk.
      for (let after: string | undefined = NIL, isNew = true; !isStopped;) {
        const { copied, impossible, after: next }: Step = await step(orgId, after);
        for (const { id: runId, projectId } of copied) noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
        if (impossible !== undefined) await removeCopy(workerDb, orgId, impossible);
        if (next === undefined && isNew) return;
        isNew = next === undefined;
        after = next ?? NIL;
      }
    } catch (error) {
      log.warn("runs are not copied yet", { error, orgId });
    }
  };

  /** Two loops of one organization would take connections from others. */
  const begin = async (orgId: string): Promise<void> => {
    const known = works.get(orgId) ?? oneAtATime(() => work(orgId));
    works.set(orgId, known);
    // The work does not belong to the request: it continues after the response.
    await underDeadline(undefined, () => known.run());
    if (known.current() === undefined && works.get(orgId) === known) works.delete(orgId);
  };

  return {
    async settle(orgId, patienceMs) {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.max(0, patienceMs));
      });
      await Promise.race([begin(orgId), patience]);
      clearTimeout(timer);
    },
    async round() {
      for (const orgId of await listCopyingOrganizations(db)) await begin(orgId);
    },
    async stop() {
      isStopped = true;
      await Promise.all([...works.values()].flatMap((known) => known.current() ?? []));
    },
  };
}

/** Makes copies, or parts of a large one, for about `STEP_MS`. `begin` is called with each before anything is done. */
async function stepOf(
  tx: Tx,
  orgId: string,
  { after, begin }: { readonly after: string; readonly begin: (copy: RunCopy) => void },
): Promise<Step> {
  const endMs = performance.now() + STEP_MS;
  const copied: RunCopy[] = [];
  const waiting = await lockCopies(tx, orgId, { after, rowsMax: COPIES_MAX, seconds: PART_SECONDS_MAX });
  let last = after;
  for (let copy of waiting) {
    begin(copy);
    if (!copy.isPossible) return { copied, impossible: copy, after: last };
    while (!isDone(copy.traces)) {
      copy = { ...copy, ...(await copyParts(tx, orgId, copy)) };
      if (performance.now() < endMs || isDone(copy.traces)) continue;
      await keepProgress(tx, orgId, copy);
      return { copied, after: last };
    }
    if (!(await finish(tx, orgId, copy))) return { copied, impossible: copy, after: last };
    copied.push(copy);
    last = copy.id;
    if (performance.now() >= endMs) break;
  }
  return { copied, after: waiting.length === 0 ? undefined : last };
}

async function finish(tx: Tx, orgId: string, copy: RunCopy): Promise<boolean> {
  const source = await lockSource(tx, orgId, copy.sourceId);
  if (source === undefined) return false;
  const metadata = await readDocumentInTurns(Buffer.from(source.metadata), "metadata");
  const copied = await writeCanonicalInTurns(copiedMetadata(metadata, { runId: copy.sourceId, at: source.at }));
  return finishCopy(tx, orgId, copy, copied);
}
