import { binarySql, sql, type ReadPage, type Tx } from "@tidemark/pg";

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

/** An object whose documents are those of an attribute. */
type OfAttribute = Omit<StoredObject, "valueJson" | "metadataJson" | "summaryJson"> & {
  readonly fromAttribute: true;
  readonly valueJson: null;
  readonly metadataJson: null;
  readonly summaryJson: null;
};

type ListedObject = (StoredObject & { readonly fromAttribute: false }) | OfAttribute;

/** Objects have at most 100 KB each, and without documents a hundredth of that. */
const PAGE_ROWS = 50;
const TABLES_PAGE_ROWS = 256;

const page = (name: string, documents: string, rows: number) =>
  sql(
    name,
    `SELECT o.id, o.run_id AS "runId", o.key, o.kind, o.step, o.artifact_id AS "artifactId", ${documents},
          o.created_at AS "createdAt", o.from_attribute AS "fromAttribute"
   FROM ingest.objects o
   WHERE o.org_id = $1 AND o.run_id = $2 AND o.kind = $3
     AND (o.order_step, o.created_at, o.id) > ($4::double precision, $5::timestamptz, $6::bigint)
   ORDER BY o.order_step, o.created_at, o.id LIMIT ${rows}`,
  );

const listObjectsSql = page(
  "ingest_export_objects",
  `o.value AS "valueJson", o.metadata AS "metadataJson", o.summary AS "summaryJson"`,
  PAGE_ROWS,
);
const listTablesSql = page(
  "ingest_export_tables",
  `'' AS "valueJson", '' AS "metadataJson", '' AS "summaryJson"`,
  TABLES_PAGE_ROWS,
);

const listObjects = (tx: Tx, values: readonly unknown[]) => tx.rows<ListedObject>(listObjectsSql, values);
const listTables = (tx: Tx, values: readonly unknown[]) => tx.rows<StoredObject>(listTablesSql, values);

/** Reads the objects of a run of one kind, those without a step first, then by step, time and id, without those that are attributes. */
export async function* readObjectsOfKind(
  read: ReadPage,
  orgId: string,
  runId: string,
  kind: string,
): AsyncGenerator<StoredObject[], void, undefined> {
  for await (const rows of pagesOf({ list: listObjects, rowsMax: PAGE_ROWS }, read, [orgId, runId, kind]))
    yield rows.filter((row) => !row.fromAttribute);
}

/** Reads the tables of a run in the same order, without their documents. */
export function readTablesOfRun(
  read: ReadPage,
  orgId: string,
  runId: string,
): AsyncGenerator<StoredObject[], void, undefined> {
  return pagesOf({ list: listTables, rowsMax: TABLES_PAGE_ROWS }, read, [orgId, runId, "table"]);
}

async function* pagesOf<Row extends Pick<StoredObject, "id" | "step" | "createdAt">>(
  pages: { readonly list: (tx: Tx, values: readonly unknown[]) => Promise<Row[]>; readonly rowsMax: number },
  read: ReadPage,
  of: readonly string[],
): AsyncGenerator<Row[], void, undefined> {
  let after: readonly unknown[] = ["-Infinity", "-infinity", -1];
  for (;;) {
    const rows = await read((tx) => pages.list(tx, [...of, ...after]));
    if (rows.length > 0) yield rows;
    if (rows.length < pages.rowsMax) return;
    const last = rows.at(-1)!;
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

/** Bytes of chunks, as stored, that one statement returns. Unpacked they may be many times as many. */
const CHUNKS_BYTES = 1024 * 1024;

const listChunks = binarySql(
  "ingest_export_table_chunks",
  `SELECT w.id, w.chunk, w.rows FROM (
     SELECT t.id, t.ordinal, c.chunk, c.rows, c.bytes, sum(c.bytes) OVER (ORDER BY t.ordinal, c.chunk) AS reached
     FROM unnest($2::bigint[]) WITH ORDINALITY AS t (id, ordinal)
     CROSS JOIN LATERAL (SELECT o.chunk, o.rows, octet_length(o.rows) AS bytes FROM ingest.table_chunks o
                         WHERE o.org_id = $1 AND o.object_id = t.id AND o.chunk >= CASE t.ordinal WHEN 1 THEN $3::smallint ELSE 0 END
                         ORDER BY o.chunk OFFSET 0) c) w
   WHERE w.reached - w.bytes < ${CHUNKS_BYTES} ORDER BY w.ordinal, w.chunk`,
);

/** A stored chunk of a table. */
export type StoredChunk = { readonly id: number; readonly chunk: number; readonly rows: Buffer };

/** Reads the chunks of tables in their order. */
export async function* readTableChunksFrom(
  read: ReadPage,
  orgId: string,
  tableIds: readonly number[],
): AsyncGenerator<StoredChunk, void, undefined> {
  let ids = tableIds;
  for (let first = 0; ids.length > 0;) {
    const rows = await read((tx) => tx.rows<StoredChunk>(listChunks, [orgId, ids, first]));
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.reduce((sum, chunk) => sum + chunk.rows.length, 0) < CHUNKS_BYTES) return;
    ids = ids.slice(ids.indexOf(last.id));
    first = last.chunk + 1;
  }
}
