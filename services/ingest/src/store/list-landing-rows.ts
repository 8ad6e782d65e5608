import { sql, type Db } from "@tidemark/pg";

/** An accepted request of a run. */
export type LandingRow = {
  /** Which of the runs asked for, counted from 1. */
  readonly place: number;
  readonly id: number;
  /** Microseconds since the Unix epoch. */
  readonly receivedUs: number;
  /** Its landing block. */
  readonly points: Uint8Array;
};

/** Which requests to read. */
export type LandingQuery = {
  readonly orgId: string;
  readonly runIds: readonly string[];
  /** Only runs that have this key; undefined: all. */
  readonly key: string | undefined;
  /** Inclusive bounds: requests without any point between them are left out. */
  readonly startStep: number | undefined;
  readonly endStep: number | undefined;
};

/** A page ends after so many rows, or with the row that takes it to so many bytes. */
const pageDefaults = { rowsMax: 20_000, bytesMax: 16 * 1024 * 1024 };

const landingPage = sql(
  "ingest_list_landing_rows",
  `SELECT place, id, received_us AS "receivedUs", points
   FROM ingest.landing_page($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

/**
 * Passes all landing rows that match to `visit`, by run in the order asked for and then by arrival.
 * One round trip, more only where they do not fit into one page.
 */
export async function visitLandingRows(
  db: Db,
  query: LandingQuery,
  visit: (row: LandingRow) => void,
  page: { readonly rowsMax: number; readonly bytesMax: number } = pageDefaults,
): Promise<void> {
  let after = { place: 1, id: -1 };
  for (;;) {
    const rows = await db.rows<LandingRow>(landingPage, [
      query.orgId,
      query.runIds,
      query.key ?? null,
      query.startStep ?? null,
      query.endStep ?? null,
      after.place,
      after.id,
      page.rowsMax,
      page.bytesMax,
    ]);
    let bytes = 0;
    for (const row of rows) {
      bytes += row.points.length;
      visit(row);
    }
    const last = rows.at(-1);
    if (last === undefined || (rows.length < page.rowsMax && bytes < page.bytesMax)) return;
    after = { place: last.place, id: last.id };
  }
}
