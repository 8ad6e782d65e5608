import { sql, type Tx } from "@tidemark/pg";

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

/** A page of a run's attributes by step, those without one first, then by id. */
export function listAttributes(tx: Tx, query: AttributeQuery): Promise<AttributeRecord[]> {
  const { orgId, runId, type, pathPrefix, limit, offset } = query;
  return tx.rows(listRows, [orgId, runId, type, pathPrefix, limit, offset]);
}
