import type { Tx } from "@tidemark/pg";
import { unpackChunk } from "../objects/chunk-bytes.ts";
import { listTables, readLastChunks } from "./measures.sql.ts";
import { boundRows } from "./table-ends.rules.ts";

/** Last chunks that are read at a time. */
const ENDS = 64;

/**
 * Returns whether the tables of runs have more than `tableRowsMax` rows; looks at `attributesMax` tables at most. The numbers of their last chunks are usually
 * enough. Where they are not, the last chunks are read until the answer is known.
 */
export async function hasMoreTableRows(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  { attributesMax, tableRowsMax }: { readonly attributesMax: number; readonly tableRowsMax: number },
): Promise<boolean> {
  const tables = (await listTables(tx, orgId, runIds, attributesMax)).filter(({ lastChunk }) => lastChunk >= 0);
  const { least, most, beforeEnds } = boundRows(tables);
  if (least > tableRowsMax) return true;
  if (most <= tableRowsMax) return false;
  let rows = beforeEnds;
  for (let at = 0; at < tables.length && rows <= tableRowsMax; at += ENDS) {
    const ends = await readLastChunks(tx, orgId, tables.slice(at, at + ENDS));
    for (const bytes of ends) rows += unpackChunk(bytes).rowCount;
  }
  return rows > tableRowsMax;
}
