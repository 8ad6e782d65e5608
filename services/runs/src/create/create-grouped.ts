import { AppError, isAppError } from "@tidemark/errors";
import { createGroupCommit, type Queued } from "@tidemark/work";
import { sqlState } from "@tidemark/pg";
import { planOf } from "@tidemark/limits";
import { createMemoryShares, type Caller } from "@tidemark/requests";
import { eachRunField } from "@tidemark/run-state";
import { fingerprintInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import type { RunsDeps } from "../deps.ts";
import { runsMaxOfGroups } from "../projects/plan-limits.rules.ts";
import type { RunRow } from "../read/runs.sql.ts";
import { comparedCreate } from "./create-run.rules.ts";
import { createTextMerger } from "./merge-texts.ts";
import { createRuns, type CreatedRun, type GroupedRun, type GroupHome } from "./new-runs.sql.ts";
import { runNameWords } from "./run-name.rules.ts";
import type { WantedRun } from "./wanted-run.ts";

/** Stores new runs, several with each commit. */
export type GroupedCreates = {
  /**
   * Creates a run with a free id in an existing project. Resolves when the run is durable, or to undefined when it has to be created
   * alone, because it is not such a run or because its group failed: then nothing of it is stored.
   * @throws service_unavailable when the queue is full, warehouse_unavailable, bad_request
   */
  create(caller: Caller, project: string, wanted: WantedRun): Promise<RunRow | undefined>;
};

/** A create in the queue. */
type PendingCreate = Queued & {
  /** Equal for all creates of a group: their runs belong to one project. */
  readonly line: string;
  readonly home: GroupHome;
  readonly run: GroupedRun;
  readonly resolve: (created: CreatedRun | undefined) => void;
  readonly reject: (error: unknown) => void;
};

/** In a larger group a create is hardly cheaper, and all runs of the group wait longer. */
const GROUP = { itemsMax: 64, bytesMax: 1024 * 1024, linesMax: 1 };
/** One for each project, because a second one would only wait for the project's row. */
const GROUPS_MAX = 4;
/** Memory for documents of creates that wait or are being stored; each organization has a share of it. */
const QUEUE_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes of a create without its documents. */
const CREATE_BYTES = 1024;

/** Creates a store with an empty queue for creates of at most `queueBytesMax` bytes together, or for a single larger one. */
export function createGroupedCreates(
  { db, plans, newId }: Pick<RunsDeps, "db" | "plans" | "newId">,
  queueBytesMax = QUEUE_BYTES_MAX,
): GroupedCreates {
  const merger = createTextMerger(db);
  /** Creates by id, until they are answered; the promises never reject. */
  const byId = new Map<string, Promise<unknown>>();
  const memory = createMemoryShares(queueBytesMax);

  /** Stores a group and returns how to answer its creates. Never throws. */
  const storeGroup = async (group: readonly PendingCreate[]): Promise<() => void> => {
    try {
      const created = await createRuns(
        db,
        group[0]!.home,
        group.map(({ run }) => run),
      );
      if (created.length > 0) merger.created(created.length);
      const byRun = new Map(created.map((row) => [row.id, row]));
      return () => group.forEach(({ run, resolve }) => resolve(byRun.get(run.id)));
    } catch (error) {
      const alone = mayGoAlone(error, group.length);
      return () => group.forEach(({ resolve, reject }) => (alone ? resolve(undefined) : reject(error)));
    }
  };

  const creates = createGroupCommit<PendingCreate>({
    ...GROUP,
    lineOf: ({ line }) => line,
    groupsMax: GROUPS_MAX,
    store: storeGroup,
  });

  const enqueue = (home: GroupHome, run: GroupedRun, bytes: number): Promise<CreatedRun | undefined> =>
    new Promise((resolve, reject) => {
      const { orgId, project, onlyProjectId, runsMax } = home;
      const line = [orgId, onlyProjectId, runsMax, project].join(" ");
      creates.add({ orgId, line, bytes, home, run, resolve, reject });
    });

  return {
    async create(caller, project, wanted) {
      const { orgId, projectId: onlyProjectId } = caller;
      const id = wanted.id ?? newId();
      const compared =
        wanted.id === undefined ? undefined : comparedCreate({ ...wanted, id, name: wanted.name ?? null });
      const run = {
        id,
        name: wanted.name,
        nameWords: runNameWords(id),
        config: await writeCanonicalInTurns(wanted.config),
        tags: wanted.tags,
        metadata: await writeCanonicalInTurns(wanted.metadata),
        createFingerprint: compared === undefined ? undefined : await fingerprintInTurns(compared),
      };
      const first = byId.get(id);
      if (first !== undefined) {
        await first;
        return undefined;
      }
      const bytes = bytesOf(run);
      const runsMax = plans === undefined ? undefined : runsMaxOfGroups(planOf(plans, caller.planTier));
      if (!memory.take(orgId, bytes)) {
        throw new AppError("service_unavailable", "too many runs are waiting to be created; try again", {
          retryAfterSeconds: 1,
        });
      }
      const creating = enqueue({ orgId, project, onlyProjectId, runsMax }, run, bytes);
      byId.set(
        id,
        // Others only wait for its end; its own caller gets the error.
        creating.catch(() => undefined),
      );
      try {
        const created = await creating;
        return created === undefined ? undefined : newRunRow(orgId, project, run, created);
      } finally {
        byId.delete(id);
        memory.giveBack(orgId, bytes);
      }
    },
  };
}

function bytesOf({ config, metadata, name = "", tags }: GroupedRun): number {
  const texts = tags.reduce((sum, tag) => sum + tag.length, name.length + config.length + metadata.length);
  return CREATE_BYTES + 2 * texts;
}

/**
 * Whether the creates of a failed group may be retried one by one: nothing was stored, and one of them may have caused the failure, or a
 * conflicting transaction.
 */
function mayGoAlone(error: unknown, size: number): boolean {
  const cause = isAppError(error) ? error.cause : error;
  const isUnavailable = isAppError(error) && error.reason === "warehouse_unavailable";
  const state = sqlState(cause);
  // After a lost connection it is unknown what was stored; a statement that took too long would take too long again.
  if (isUnavailable || state === "" || state === "57014") return false;
  // Alone, a create of a project that was deleted meanwhile looks for the project again.
  const isProjectGone = state === "P0002";
  return size > 1 || isProjectGone || state === "40001" || state === "40P01";
}

/** Returns a run that was just created as a read would return it. */
function newRunRow(orgId: string, project: string, run: GroupedRun, created: CreatedRun): RunRow {
  const { id, project_id, project_number, name, created_at } = created;
  return {
    id,
    org_id: orgId,
    project_id,
    project,
    project_number,
    name,
    status: "running",
    display_status: "running",
    config: run.config,
    tags: [...run.tags],
    metadata: run.metadata,
    created_at,
    started_at: created_at,
    ...eachRunField({ time: null, uuid: null, number: null }),
    resume_count: 0,
    seen_at: null,
    deleted_at: null,
    purge_after: null,
    lifecycle: "[]",
    create_fingerprint: run.createFingerprint ?? null,
    stop_state: "none",
    stop_request_id: null,
    stop_reason: null,
    stop_completion_message: null,
    stop_actor: null,
    stop_requested_at: null,
    stop_acknowledged_at: null,
    stop_completed_at: null,
    stop_updated_at: null,
  };
}
