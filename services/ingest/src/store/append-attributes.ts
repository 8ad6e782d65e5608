import { sql, type Db } from "@tidemark/pg";
import { float8Array, textArray } from "./binary-array.ts";
import { withFreshIds } from "./write-outcome.ts";

/** One accepted request of attributes, at least one. */
export type AttributeWrite = {
  readonly orgId: string;
  readonly runId: string;
  /** The run is known to exist in the organization, and the caller may see it. */
  readonly runKnown: boolean;
  /** The one project that the caller may see; null for all. */
  readonly onlyProject: string | null;
  /** Makes the first of as many consecutive ids as there are attributes. */
  readonly takeIds: (count: number) => number;
  readonly attributes: readonly AttributeRow[];
};

/** One attribute as it is stored. */
export type AttributeRow = {
  readonly path: string;
  readonly type: string;
  readonly step: number | undefined;
  /** RFC 3339, empty when the client sent none. */
  readonly loggedAt: string;
  readonly valueJson: string;
  readonly summaryJson: string;
};

/** What became of them: the rows have the ids from `firstId` on. `projectId` is null when the run was known already. */
export type AttributeOutcome =
  | {
      readonly outcome: "inserted";
      readonly firstId: number;
      readonly createdAt: string;
      readonly projectId: string | null;
    }
  | { readonly outcome: "not_found" };

const insertAttributes = sql(
  "ingest_append_attributes",
  `SELECT outcome, run_project AS "projectId", stored_at AS "createdAt", $5::bigint AS "firstId"
   FROM ingest.append_attributes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

/** Stores all the attributes or none, in one round trip and one transaction. */
export async function appendAttributes(db: Db, write: AttributeWrite): Promise<AttributeOutcome> {
  const rows = write.attributes;
  const columns = [
    textArray(rows.map((row) => row.path)),
    textArray(rows.map((row) => row.type)),
    float8Array(rows.map((row) => row.step ?? Number.NaN)),
    textArray(rows.map((row) => row.loggedAt || null)),
    textArray(rows.map((row) => row.valueJson)),
    textArray(rows.map((row) => row.summaryJson)),
  ];
  return withFreshIds(async () => {
    const outcome = await db.one<AttributeOutcome>(insertAttributes, [
      write.orgId,
      write.runId,
      write.runKnown,
      write.onlyProject,
      write.takeIds(rows.length),
      ...columns,
    ]);
    return outcome!;
  });
}
