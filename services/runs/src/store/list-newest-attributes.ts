import { sql, type Tx } from "@tidemark/pg";

/** A path of a run. */
export type NewestAttribute = {
  /** Of the run among those that were asked for, from 1. */
  readonly place: number;
  readonly path: string;
  /** JSON of the newest row; null where the page ends for this run, before this path. */
  readonly value: string | null;
};

const listNewestAttributesSql = sql(
  "runs_list_newest_attributes",
  "SELECT place, path, value FROM ingest.newest_attributes_v1($1, $2, $3, $4, $5, $6)",
);

/**
 * A page of the attributes of some runs after the path `after`, run by run and by path. Of each run
 * come at most `rowsEach` paths and about `bytesEach` bytes, of all together at most `bytesAll`.
 */
export function listNewestAttributes(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  page: {
    readonly after: string;
    readonly rowsEach: number;
    readonly bytesEach: number;
    readonly bytesAll: number;
  },
): Promise<NewestAttribute[]> {
  return tx.rows(listNewestAttributesSql, [orgId, runIds, page.after, page.rowsEach, page.bytesEach, page.bytesAll]);
}
