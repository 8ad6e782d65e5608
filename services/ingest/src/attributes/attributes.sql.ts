import { sql, type Db, type Tx } from "@tidemark/pg";
import { float8Array, textArray } from "../writes/binary-array.sql.ts";
import { withFreshIds } from "../writes/write-outcome.sql.ts";

/** One accepted request of attributes, at least one. */
export type AttributeWrite = {
  readonly orgId: string;
  readonly runId: string;
  /** The run is known to exist in the organization, and the caller may see it. */
  readonly runKnown: boolean;
  /** The only project that the caller may see; null: every project of the organization. */
  readonly onlyProject: string | null;
  /** Takes `count` consecutive ids and returns the first of them. */
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

/** What became of a write: the rows have the ids from `firstId` on. `projectId` is null when the run was known before the write. */
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

/** Stores all the attributes of a request or none of them, in one round trip and one transaction. */
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

/** A stored attribute; documents are JSON texts. */
export type AttributeRecord = {
  readonly id: number;
  readonly path: string;
  readonly type: string;
  readonly step: number | null;
  readonly loggedAt: string;
  readonly valueJson: string;
  readonly summaryJson: string;
  readonly createdAt: string;
};

/** Which attributes of a run to read; empty texts mean all. */
export type AttributeQuery = {
  readonly orgId: string;
  readonly runId: string;
  readonly type: string;
  readonly pathPrefix: string;
  readonly limit: number;
  readonly offset: number;
};

const listRows = sql(
  "ingest_list_attributes",
  `SELECT id, path, type, step, logged_at AS "loggedAt", value AS "valueJson", summary AS "summaryJson",
          created_at AS "createdAt"
   FROM ingest.attributes
   WHERE org_id = $1 AND run_id = $2 AND ($3 = '' OR type = $3) AND ($4 = '' OR starts_with(path, $4))
   ORDER BY step NULLS FIRST, id LIMIT $5 OFFSET $6`,
);

/** Returns a page of a run's attributes by step, those without a step first, then by id. */
export function listAttributes(tx: Tx, query: AttributeQuery): Promise<AttributeRecord[]> {
  const { orgId, runId, type, pathPrefix, limit, offset } = query;
  return tx.rows(listRows, [orgId, runId, type, pathPrefix, limit, offset]);
}
