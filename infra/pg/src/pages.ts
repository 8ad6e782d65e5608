import type { Db, Tx } from "./db.ts";

/** Reads one page of a list. */
export type ReadPage = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/**
 * Yields what `pages` reads page by page: all pages of one moment, in one transaction that stays open while the reader takes them; or, `byPage`, each
 * page in a transaction of its own, so that none is open in between.
 */
export function streamPages<T>(
  db: Pick<Db, "readTenant" | "streamTenant">,
  orgId: string,
  byPage: boolean,
  pages: (read: ReadPage) => AsyncIterable<T>,
): AsyncIterable<T> {
  const options = { plans: "walks" } as const;
  if (byPage) return pages((work) => db.readTenant(orgId, work, options));
  return db.streamTenant(orgId, (tx) => pages((work) => work(tx)), options);
}

/** Repeats a step that changes at most `rowsMax` rows until it finds fewer, so that each transaction is small. Returns the rows of all steps. */
export async function inBatches(rowsMax: number, step: (rowsMax: number) => Promise<number>): Promise<number> {
  for (let total = 0; ;) {
    const changed = await step(rowsMax);
    total += changed;
    if (changed < rowsMax) return total;
  }
}
