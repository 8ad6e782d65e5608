import { boolArray, byteaArray, int4Array, sql, type Tx } from "@tidemark/pg";
import type { NamedRun } from "../content/named-runs.rules.ts";
import { jobColumns, type JobRow } from "../jobs/jobs.sql.ts";

/** The facts of a staged chunk; the instant is an RFC 3339 text. */
export type ChunkRow = {
  readonly chunkId: string;
  readonly sequence: number;
  readonly contentHash: Uint8Array;
  readonly isFinal: boolean;
  readonly runs: number;
  readonly metrics: number;
  readonly attributes: number;
  readonly artifacts: number;
  readonly warnings: number;
  readonly createdAt: string;
};

const columns = `c.chunk_id AS "chunkId", c.sequence, c.content_hash AS "contentHash", c.is_final AS "isFinal", c.runs, c.metrics, c.attributes,
  c.artifacts, c.warnings, c.created_at AS "createdAt"`;

const findChunkSql = sql(
  "imports_find_chunk",
  `SELECT ${columns} FROM imports.chunks c WHERE c.org_id = $1 AND c.job_id = $2 AND c.chunk_id = $3`,
);

/** Returns the chunk of a job with this id. */
export function findChunk(tx: Tx, orgId: string, jobId: number, chunkId: string): Promise<ChunkRow | undefined> {
  return tx.one(findChunkSql, [orgId, jobId, chunkId]);
}

const insertChunkSql = sql(
  "imports_insert_chunk",
  `INSERT INTO imports.chunks AS c (org_id, job_id, sequence, chunk_id, content_hash, is_final, runs, metrics, attributes, artifacts, warnings,
                                    content)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING ${columns}`,
);

/** Stages a chunk. */
export async function insertChunk(
  tx: Tx,
  orgId: string,
  jobId: number,
  chunk: Omit<ChunkRow, "createdAt"> & { readonly content: Uint8Array },
): Promise<ChunkRow> {
  const row = await tx.one<ChunkRow>(insertChunkSql, [
    orgId,
    jobId,
    chunk.sequence,
    chunk.chunkId,
    chunk.contentHash,
    chunk.isFinal,
    chunk.runs,
    chunk.metrics,
    chunk.attributes,
    chunk.artifacts,
    chunk.warnings,
    chunk.content,
  ]);
  return row!;
}

const nameRunsSql = sql(
  "imports_name_runs",
  `INSERT INTO imports.job_runs AS r (org_id, job_id, source_hash, sequence, place, is_rich)
   SELECT $1, $2, n.source_hash, CASE WHEN n.place >= 0 THEN $3::integer END, nullif(n.place, -1), n.is_rich
   FROM unnest($4::bytea[], $5::integer[], $6::boolean[]) AS n (source_hash, place, is_rich)
   ON CONFLICT (org_id, job_id, source_hash) DO UPDATE SET
     place = CASE WHEN r.sequence IS NULL THEN excluded.place ELSE r.place END,
     sequence = coalesce(r.sequence, excluded.sequence),
     is_rich = r.is_rich OR excluded.is_rich`,
);

/** Notes the runs that a chunk defines or names. The first definition of a run counts. */
export async function nameRuns(
  tx: Tx,
  orgId: string,
  jobId: number,
  sequence: number,
  runs: readonly NamedRun[],
): Promise<void> {
  if (runs.length === 0) return;
  await tx.rows(nameRunsSql, [
    orgId,
    jobId,
    sequence,
    byteaArray(runs.map(({ sourceHash }) => sourceHash)),
    int4Array(runs.map(({ place }) => place)),
    boolArray(runs.map(({ isRich }) => isRich)),
  ]);
}

const countNamedSql = sql(
  "imports_count_named_runs",
  `SELECT count(*)::integer AS runs, (count(*) FILTER (WHERE r.sequence IS NULL))::integer AS undefined
   FROM imports.job_runs r WHERE r.org_id = $1 AND r.job_id = $2`,
);

/** Returns how many different runs the chunks of a job define or name, and how many of these are undefined. */
export async function countNamedRuns(
  tx: Tx,
  orgId: string,
  jobId: number,
): Promise<{ readonly runs: number; readonly undefined: number }> {
  return (await tx.one<{ runs: number; undefined: number }>(countNamedSql, [orgId, jobId]))!;
}

const addChunkSql = sql(
  "imports_add_chunk_to_job",
  `UPDATE imports.jobs j SET
     status = CASE WHEN j.dedupe_policy = 'legacy' THEN j.status WHEN $3 THEN 'dry_run_ready' ELSE 'uploading' END,
     final_received = $3, chunks = j.chunks + 1, runs = j.runs + $4, metrics = j.metrics + $5, attributes = j.attributes + $6,
     artifacts = j.artifacts + $7, warning_count = j.warning_count + $8, staged_bytes = j.staged_bytes + $9, warnings = $10,
     first_warnings = $11, updated_at = clock_timestamp()
   WHERE j.org_id = $1 AND j.id = $2 RETURNING ${jobColumns}`,
);

/** Counts a staged chunk in its job, which this transaction has locked. `warnings` are all warnings of the job, as JSON texts. */
export async function addChunkToJob(
  tx: Tx,
  orgId: string,
  jobId: number,
  chunk: Omit<ChunkRow, "createdAt">,
  { bytes, warnings, firstWarnings }: { bytes: number; warnings: string; firstWarnings: string },
): Promise<JobRow> {
  const row = await tx.one<JobRow>(addChunkSql, [
    orgId,
    jobId,
    chunk.isFinal,
    chunk.runs,
    chunk.metrics,
    chunk.attributes,
    chunk.artifacts,
    chunk.warnings,
    bytes,
    warnings,
    firstWarnings,
  ]);
  return row!;
}
