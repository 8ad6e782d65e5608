import { countOf, encodeLogBlock, messageBytesOf, positionAt } from "@tidemark/log-codec";
import { sql, type Db } from "@tidemark/pg";
import type { BlockChange } from "../domain/block-change.ts";
import type { LogSource } from "../domain/log-stream.ts";
import { byteaArray, float8Array } from "../writes/binary-array.sql.ts";

const replaceBlocks = sql(
  "ingest_replace_log_blocks",
  `SELECT ingest.replace_log_blocks($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) AS held`,
);

/**
 * Puts blocks in the place of the landing rows and blocks whose lines they hold: one transaction, all or nothing. False when the fence does not
 * hold any more; the claim is prolonged when it does. `db` runs as the worker.
 */
export async function replaceLogBlocks(
  db: Db,
  source: LogSource,
  claim: { readonly fence: string; readonly leaseSeconds: number },
  { landingIds, replaced, added }: BlockChange,
): Promise<boolean> {
  const firsts = added.map(({ columns }) => positionAt(columns, 0));
  const lasts = added.map(({ columns }) => positionAt(columns, countOf(columns) - 1));
  const row = await db.one<{ held: boolean }>(replaceBlocks, [
    source.orgId,
    source.runId,
    source.stream,
    claim.fence,
    claim.leaseSeconds,
    float8Array(landingIds),
    replaced.map(({ level }) => level),
    float8Array(replaced.map(({ first }) => first.lineNumber)),
    float8Array(replaced.map(({ first }) => first.id)),
    added.map(({ level }) => level),
    float8Array(firsts.map(({ lineNumber }) => lineNumber)),
    float8Array(firsts.map(({ id }) => id)),
    float8Array(lasts.map(({ lineNumber }) => lineNumber)),
    float8Array(lasts.map(({ id }) => id)),
    added.map(({ columns }) => countOf(columns)),
    added.map(({ columns }) => messageBytesOf(columns)),
    byteaArray(added.map(({ columns }) => encodeLogBlock(columns, { compressFrom: 0 }))),
  ]);
  return row!.held;
}
