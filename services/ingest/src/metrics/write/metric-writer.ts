import type { ChangePublisher } from "@tidemark/bus";
import { AppError, isAppError } from "@tidemark/errors";
import { createGroupCommit } from "@tidemark/work";
import { stepRange } from "@tidemark/codecs/metrics";
import { keyInProgress, keyReused, type Db } from "@tidemark/pg";
import { createMemoryShares } from "@tidemark/requests";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { Metrics } from "@tidemark/telemetry";
import type { DirtyMarkers } from "../../compaction/dirty-markers.rules.ts";
import { commitGroup, commitWaiting } from "./commit-group.ts";
import {
  bytesOfWrite,
  createPendingWrite,
  type MetricReply,
  type MetricWrite,
  type PendingWrite,
} from "./pending-write.rules.ts";
import { createPointSlots } from "./plan-group.rules.ts";
import { createRunStates } from "./run-states.rules.ts";
import { createSortKeyMemory } from "./sort-keys.ts";

/** Stores metric writes, several with each commit. */
export type MetricWriter = {
  /**
   * Resolves when the write is durable and visible, or immediately if it already was.
   * @throws idempotency_key_reused, idempotency_in_progress, service_unavailable when too much of the organization already waits, and what the database reports
   */
  append(write: MetricWrite): Promise<MetricReply>;
};

/** Dependencies of a metric writer. */
export type MetricWriterOptions = {
  readonly db: Db;
  readonly markers: DirtyMarkers;
  /** Returns a number from 0 to 1, below 1. */
  readonly random: () => number;
  /** Memory for the known state of runs that are being written. */
  readonly cacheBytes: number;
  /** Memory for waiting writes and writes being stored, shared between organizations. */
  readonly queueBytes: number;
  readonly metrics: Pick<Metrics, "metricGroup" | "metricsRefused">;
  /** Called with what was stored, before the write is answered. */
  readonly noteChange: ChangePublisher["note"];
};

/** In a larger group, a write is hardly cheaper, and all of its writes wait longer. */
const GROUP = { itemsMax: 64, bytesMax: 1024 * 1024, linesMax: Number.POSITIVE_INFINITY };
/** While one group is in the database, the next is prepared. */
const GROUPS_MAX = 2;
/** The most writes that wait for an idempotency key that another process has locked: each occupies a connection. */
const WAITING_MAX = 4;

/** Creates a writer with nothing in memory. */
export function createMetricWriter(options: MetricWriterOptions): MetricWriter {
  const { db, markers, random, cacheBytes, queueBytes, metrics, noteChange } = options;
  /** Writes by organization and idempotency key, until they are answered. */
  const byKey = new Map<string, { readonly write: MetricWrite; readonly reply: Promise<MetricReply> }>();
  const memory = createMemoryShares(queueBytes);
  let waitingCount = 0;
  const deps = {
    db,
    markers,
    states: createRunStates(cacheBytes),
    sortKeys: createSortKeyMemory(),
    pointSlots: createPointSlots(random),
  };

  const writes = createGroupCommit<PendingWrite>({
    ...GROUP,
    lineOf: ({ runId }) => runId,
    groupsMax: GROUPS_MAX,
    async store(group) {
      metrics.metricGroup(group.length);
      const waiting = await commitGroup(group, deps);
      return () => {
        for (const write of waiting) void commitWhenUnlocked(write);
      };
    },
  });

  const commitWhenUnlocked = async (write: PendingWrite): Promise<void> => {
    if (!write.waits || waitingCount >= WAITING_MAX) {
      write.reject(keyInProgress());
      return;
    }
    waitingCount += 1;
    await commitWaiting(write, deps);
    waitingCount -= 1;
  };

  const enqueue = (write: MetricWrite, bytes: number): Promise<MetricReply> =>
    new Promise<MetricReply>((resolve, reject) => {
      writes.add(createPendingWrite(write, bytes, markers, { resolve, reject }));
    });

  /** Stores a write. One with the idempotency key of a write that is being stored gets the reply of that write, or is stored when that failed. */
  const appendOnce = async (write: MetricWrite, bytes: number): Promise<MetricReply> => {
    if (write.idempotency === null) return enqueue(write, bytes);
    const key = `${write.orgId}${Buffer.from(write.idempotency.key).toString("base64")}`;
    for (let first = byKey.get(key); first !== undefined; first = byKey.get(key)) {
      if (!write.waits) throw keyInProgress();
      const reply = await first.reply.catch((error: unknown) => {
        if (isSharedError(error)) throw error;
      });
      if (reply === undefined) continue;
      if (!isSame(first.write.idempotency!.body, write.idempotency.body)) throw keyReused();
      return { inserted: reply.inserted, replayed: true };
    }
    const reply = enqueue(write, bytes);
    byKey.set(key, { write, reply });
    try {
      return await reply;
    } finally {
      byKey.delete(key);
    }
  };

  return {
    async append(write) {
      const bytes = bytesOfWrite(write.columns);
      if (!memory.take(write.orgId, bytes)) {
        metrics.metricsRefused();
        throw new AppError("service_unavailable", "too many metrics are waiting to be stored; try again", {
          retryAfterSeconds: 1,
        });
      }
      try {
        const reply = await appendOnce(write, bytes);
        if (!reply.replayed) noteChange(changeOf(write));
        return reply;
      } finally {
        memory.giveBack(write.orgId, bytes);
      }
    },
  };
}

function changeOf({ orgId, projectId, runId, columns }: MetricWrite): Parameters<ChangePublisher["note"]>[0] {
  const { keys, steps } = columns;
  return { orgId, projectId, runId, kind: ChangeKind.POINTS, keys, step: stepRange(steps).lastStep };
}

/** Returns whether an error says nothing about the write itself, so that an immediate retry would fail in the same way. */
function isSharedError(error: unknown): boolean {
  if (!isAppError(error)) return false;
  return ["warehouse_unavailable", "service_unavailable", "idempotency_in_progress"].includes(error.reason);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
