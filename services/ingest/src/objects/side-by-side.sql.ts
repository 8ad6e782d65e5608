import { sql, type Tx } from "@tidemark/pg";
import type { FoundKey, KeySteps } from "./side-by-side.rules.ts";
import { readObjects, type ObjectRow } from "./objects.sql.ts";

// Jumps from key to key in the index, however many objects each has.
const keyAfter = (run: string, condition: string): string =>
  `CROSS JOIN LATERAL (SELECT o.key, o.kind FROM ingest.objects o
     WHERE o.org_id = $1 AND o.run_id = ${run} AND o.kind <> 'text'${condition}
     ORDER BY o.key, o.order_step DESC, o.created_at DESC, o.id DESC LIMIT 1) n`;

const findKeysSql = sql(
  "ingest_find_object_keys",
  `WITH RECURSIVE found AS (
     SELECT r.id AS run_id, n.key, n.kind, 1 AS place FROM unnest($2::uuid[]) AS r (id) ${keyAfter("r.id", "")}
     UNION ALL
     SELECT b.run_id, n.key, n.kind, b.place + 1 FROM found b ${keyAfter("b.run_id", " AND o.key > b.key")}
     WHERE b.place < $3)
   SELECT run_id AS "runId", key, kind FROM found`,
);

/** Returns the first keys of each run, at most `keysMax`. */
export function findKeys(tx: Tx, orgId: string, runIds: readonly string[], keysMax: number): Promise<FoundKey[]> {
  return tx.rows(findKeysSql, [orgId, runIds, keysMax]);
}

const readStepsSql = sql(
  "ingest_read_object_steps",
  `SELECT w.key, array_agg(DISTINCT s.order_step ORDER BY s.order_step) AS steps, bool_or(s.place = $4) AS cut
   FROM unnest($2::uuid[], $3::text[]) AS w (run_id, key) CROSS JOIN LATERAL (
     SELECT o.order_step, row_number() OVER () AS place FROM (
       SELECT t.order_step FROM ingest.objects t
       WHERE t.org_id = $1 AND t.run_id = w.run_id AND t.key = w.key AND t.kind <> 'text'
       ORDER BY t.order_step DESC, t.created_at DESC, t.id DESC LIMIT $4) o) s
   WHERE s.order_step > '-infinity' GROUP BY w.key`,
);

/** Returns the steps of keys, of at most `stepsMax` objects of each. */
export function readSteps(tx: Tx, orgId: string, keys: readonly FoundKey[], stepsMax: number): Promise<KeySteps[]> {
  const runIds = keys.map(({ runId }) => runId);
  const names = keys.map(({ key }) => key);
  return tx.rows(readStepsSql, [orgId, runIds, names, stepsMax]);
}

const lastIdsSql = sql(
  "ingest_find_objects_at_step",
  `SELECT l.id FROM unnest($2::uuid[]) AS r (id) CROSS JOIN unnest($3::text[]) AS w (key) CROSS JOIN LATERAL (
     SELECT o.id FROM ingest.objects o
     WHERE o.org_id = $1 AND o.run_id = r.id AND o.key = w.key AND o.kind <> 'text' AND o.order_step <= $4
     ORDER BY o.order_step DESC, o.created_at DESC, o.id DESC LIMIT 1) l`,
);

/** Returns the last object of each run and key at or before a step. */
export async function readObjectsAtStep(
  tx: Tx,
  orgId: string,
  wanted: { readonly runIds: readonly string[]; readonly keys: readonly string[]; readonly step: number },
): Promise<ObjectRow[]> {
  const rows = await tx.rows<{ id: number }>(lastIdsSql, [orgId, wanted.runIds, wanted.keys, wanted.step]);
  if (rows.length === 0) return [];
  return readObjects(
    tx,
    orgId,
    rows.map(({ id }) => id),
  );
}
