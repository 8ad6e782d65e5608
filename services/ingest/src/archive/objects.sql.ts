import { sql, type Tx } from "@tidemark/pg";

/** A stored object that is not an attribute; documents are JSON texts. */
export type StoredObject = {
  readonly id: number;
  readonly runId: string;
  readonly key: string;
  readonly kind: string;
  readonly step: number | null;
  readonly artifactId: string | null;
  readonly valueJson: string;
  readonly metadataJson: string;
  readonly summaryJson: string;
  readonly createdAt: string;
};

/** An object in the order of a run's objects of one kind. */
type Place = { readonly id: number; readonly step: number | null; readonly createdAt: string };

/** Objects have at most 100 KB each. */
const PAGE_ROWS = 50;

const listOfKind = sql(
  "ingest_export_objects",
  `SELECT o.id, o.run_id AS "runId", o.key, o.kind, o.step, o.artifact_id AS "artifactId", o.value AS "valueJson",
          o.metadata AS "metadataJson", o.summary AS "summaryJson", o.created_at AS "createdAt", o.from_attribute AS "fromAttribute"
   FROM ingest.objects o
   WHERE o.org_id = $1 AND o.run_id = $2 AND o.kind = $3
     AND (o.order_step, o.created_at, o.id) > ($4::double precision, $5::timestamptz, $6::bigint)
   ORDER BY o.order_step, o.created_at, o.id LIMIT ${PAGE_ROWS}`,
);

/** Reads the objects of a run of one kind, those without a step first, then by step, time and id. */
export async function* readObjectsOfKind(
  tx: Tx,
  orgId: string,
  runId: string,
  kind: string,
): AsyncGenerator<StoredObject, void, undefined> {
  let after: unknown[] = ["-Infinity", "-infinity", -1];
  for (;;) {
    const rows = await tx.rows<StoredObject & { fromAttribute: boolean }>(listOfKind, [orgId, runId, kind, ...after]);
    for (const row of rows) if (!row.fromAttribute) yield row;
    const last: Place | undefined = rows.at(-1);
    if (last === undefined) return;
    after = [last.step ?? "-Infinity", last.createdAt, last.id];
  }
}

const findKinds = sql(
  "ingest_export_object_kinds",
  `SELECT w.id AS "runId", k.kind
   FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, n) CROSS JOIN unnest($3::text[]) WITH ORDINALITY AS k (kind, m)
   WHERE EXISTS (SELECT 1 FROM ingest.objects o WHERE o.org_id = $1 AND o.run_id = w.id AND o.kind = k.kind OFFSET 0)
   ORDER BY w.n, k.m`,
);

/** Returns the runs that have objects, with the kinds of these. */
export function findObjectKinds(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  kinds: readonly string[],
): Promise<{ runId: string; kind: string }[]> {
  return tx.rows(findKinds, [orgId, runIds, kinds]);
}
