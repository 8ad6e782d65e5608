import { sql, type Db } from "@tidemark/pg";
import type { LogStream } from "../domain/log-stream.ts";
import { float8Array, textArray } from "./binary-array.ts";
import { withFreshIds, type IdempotencyHashes, type WriteOutcome } from "./write-outcome.ts";

/** One accepted request of console lines. */
export type LogWrite = {
  readonly orgId: string;
  readonly runId: string;
  /** The run is known to exist in the organization, and the caller may see it. */
  readonly runKnown: boolean;
  /** The one project that the caller may see; null for all. */
  readonly onlyProject: string | null;
  readonly idempotency: IdempotencyHashes | null;
  /** Makes the first of as many consecutive ids as there are lines. */
  readonly takeIds: (count: number) => number;
  readonly stream: LogStream;
  /** `timestamp` is RFC 3339, empty when the client sent none. */
  readonly lines: readonly { readonly lineNumber: number; readonly message: string; readonly timestamp: string }[];
};

const insertLogLines = sql(
  "ingest_append_log_lines",
  `SELECT outcome, inserted, run_project AS "projectId"
   FROM ingest.append_log_lines($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

/**
 * Stores a request with its idempotency record in one round trip and one transaction.
 * @throws idempotency_in_progress
 */
export async function appendLogLines(db: Db, write: LogWrite): Promise<WriteOutcome> {
  const { lines } = write;
  const numbers = float8Array(lines.map((line) => line.lineNumber));
  const messages = textArray(lines.map((line) => line.message));
  const sent = textArray(lines.map((line) => line.timestamp || null));
  return withFreshIds(async () => {
    const row = await db.one<WriteOutcome>(insertLogLines, [
      write.orgId,
      write.runId,
      write.runKnown,
      write.onlyProject,
      write.idempotency?.key ?? null,
      write.idempotency?.body ?? null,
      write.stream,
      write.takeIds(lines.length),
      numbers,
      messages,
      sent,
    ]);
    return row!;
  });
}
