import { sql, type Db } from "@tidemark/pg";
import type { LogSource } from "../domain/log-stream.ts";
import { withFreshIds, type IdempotencyHashes, type WriteOutcome } from "../writes/write-outcome.sql.ts";

/** One accepted request of console lines. */
export type LogWrite = {
  readonly source: LogSource;
  /** The run is known to exist in the organization, and the caller may see it. */
  readonly runKnown: boolean;
  /** The one project that the caller may see; null for all. */
  readonly onlyProject: string | null;
  readonly idempotency: IdempotencyHashes | null;
  /** Makes the landing id, a multiple of 64: the lines have the ids from it on. */
  readonly takeId: () => number;
  readonly lowestLine: number;
  readonly highestLine: number;
  readonly lines: number;
  readonly messageBytes: number;
  /** A block of the log codec with ids from 0 and without times of arrival. */
  readonly block: Uint8Array;
  /** Seconds after which a compactor shall look at the stream; null: it need not for this write. */
  readonly markSeconds: number | null;
};

const insertLogLines = sql(
  "ingest_append_log_lines",
  `SELECT outcome, inserted, run_project AS "projectId"
   FROM ingest.append_log_lines($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);

/**
 * Stores a request with its idempotency record in one round trip and one transaction.
 * @throws idempotency_in_progress
 */
export async function appendLogLines(db: Db, write: LogWrite): Promise<WriteOutcome> {
  const { source } = write;
  return withFreshIds(async () => {
    const row = await db.one<WriteOutcome>(insertLogLines, [
      source.orgId,
      source.runId,
      write.runKnown,
      write.onlyProject,
      write.idempotency?.key ?? null,
      write.idempotency?.body ?? null,
      source.stream,
      write.takeId(),
      write.lowestLine,
      write.highestLine,
      write.lines,
      write.messageBytes,
      write.block,
      write.markSeconds,
    ]);
    return row!;
  });
}
