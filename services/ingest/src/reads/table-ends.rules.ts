import { TABLE_CHUNK_ROWS } from "@tidemark/limits";

/**
 * Returns how few and how many rows tables with rows can have together, and how many they have before their last chunks: all chunks of a table but
 * the last one are full, and the last one has at least one row.
 */
export function boundRows(tables: readonly { readonly lastChunk: number }[]): {
  readonly least: number;
  readonly most: number;
  readonly beforeEnds: number;
} {
  const beforeEnds = tables.reduce((sum, { lastChunk }) => sum + lastChunk * TABLE_CHUNK_ROWS, 0);
  return { beforeEnds, least: beforeEnds + tables.length, most: beforeEnds + tables.length * TABLE_CHUNK_ROWS };
}
