import { sql, type Tx } from "@tidemark/pg";
import type { AttributeRecord } from "../attributes/attributes.sql.ts";
import type { ObjectPlace } from "./object-place.rules.ts";

/** An object of a list, and how many bytes its key and documents have. */
export type WeighedObject = ObjectPlace & { readonly bytes: number };

const weighObjectsSql = sql(
  "ingest_weigh_objects_from",
  `SELECT o.id, o.order_step AS step, o.created_at AS "createdAt", o.bytes FROM ingest.objects o
   WHERE o.org_id = $1 AND o.run_id = $2 AND o.kind = $3 AND NOT o.from_attribute
     AND (o.order_step, o.created_at, o.id) > ($4, $5, $6)
   ORDER BY o.order_step, o.created_at, o.id LIMIT $7::bigint`,
);

/** Returns the next objects of a kind after a place, without attributes. */
export function weighObjectsFrom(
  tx: Tx,
  orgId: string,
  list: { readonly runId: string; readonly kind: string },
  after: ObjectPlace,
  limit: number,
): Promise<WeighedObject[]> {
  const values = [orgId, list.runId, list.kind, after.step, after.createdAt, after.id, limit];
  return tx.rows(weighObjectsSql, values);
}

/** The place of an attribute in its run: attributes without a step first, then by step, then by id. */
export type AttributePlace = { readonly step: number | null; readonly id: number };

/** An attribute of a list, and how many bytes its path and documents have. */
export type WeighedAttribute = AttributePlace & { readonly bytes: number };

// Two statements, because no order of PostgreSQL compares rows in which nulls are first.
const weighStepless = sql(
  "ingest_weigh_attributes_without_step",
  `SELECT a.id, a.step, a.bytes FROM ingest.attributes a
   WHERE a.org_id = $1 AND a.run_id = $2 AND a.step IS NULL AND a.id > $3 ORDER BY a.step NULLS FIRST, a.id LIMIT $4::bigint`,
);
const weighStepped = sql(
  "ingest_weigh_attributes_with_step",
  `SELECT a.id, a.step, a.bytes FROM ingest.attributes a
   WHERE a.org_id = $1 AND a.run_id = $2 AND (a.step, a.id) > ($3, $4) ORDER BY a.step NULLS FIRST, a.id LIMIT $5::bigint`,
);

/** Below all steps. */
const NO_STEP_YET = -1;

/** Returns the next attributes of a run after a place; undefined: from the first. */
export async function weighAttributesFrom(
  tx: Tx,
  orgId: string,
  runId: string,
  after: AttributePlace | undefined,
  limit: number,
): Promise<WeighedAttribute[]> {
  const stepped = (step: number, id: number, rows: number) =>
    tx.rows<WeighedAttribute>(weighStepped, [orgId, runId, step, id, rows]);
  if (after !== undefined && after.step !== null) return stepped(after.step, after.id, limit);
  const first = await tx.rows<WeighedAttribute>(weighStepless, [orgId, runId, after?.id ?? 0, limit]);
  return first.length === limit ? first : [...first, ...(await stepped(NO_STEP_YET, 0, limit - first.length))];
}

const readAttributesSql = sql(
  "ingest_read_attributes",
  `SELECT a.id, a.path, a.type, a.step, a.logged_at AS "loggedAt", a.value AS "valueJson", a.summary AS "summaryJson",
          a.artifact_id AS "artifactId", a.created_at AS "createdAt"
   FROM unnest($2::bigint[]) WITH ORDINALITY AS wanted (id, ordinal)
   CROSS JOIN LATERAL (SELECT * FROM ingest.attributes o WHERE o.org_id = $1 AND o.id = wanted.id OFFSET 0) a
   ORDER BY wanted.ordinal`,
);

/** Returns attributes of the organization by their ids, in the order of the ids. */
export function readAttributes(tx: Tx, orgId: string, ids: readonly number[]): Promise<AttributeRecord[]> {
  return tx.rows(readAttributesSql, [orgId, ids]);
}
