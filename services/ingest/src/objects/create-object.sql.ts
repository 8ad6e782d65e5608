import { byteaArray, int4Array, sql, type Db } from "@tidemark/pg";
import { withFreshIds } from "../writes/fresh-ids.sql.ts";
import type { IdempotencyHashes } from "../writes/write-outcome.rules.ts";
import type { PackedChunk } from "./object.rules.ts";

/** One accepted object. */
export type ObjectWrite = {
  readonly orgId: string;
  readonly runId: string;
  readonly projectId: string;
  /** The only project that the caller may see; null: every project of the organization. */
  readonly onlyProject: string | null;
  readonly idempotency: IdempotencyHashes | null;
  /** Takes an id. */
  readonly takeId: () => number;
  readonly kind: string;
  readonly key: string;
  readonly step: number | null;
  readonly artifactId: string | null;
  /** Null for media. */
  readonly valueJson: string | null;
  readonly metadataJson: string;
  readonly summaryJson: string;
  /** The rows of a table as they are stored. */
  readonly chunks: readonly PackedChunk[];
};

/** The outcome; `no_artifact`: the artifact does not exist for this caller, `other_run`: it belongs to another run. */
export type ObjectOutcome =
  | { readonly outcome: "inserted" | "replayed"; readonly id: number }
  | { readonly outcome: "reused" }
  | { readonly outcome: "no_artifact" }
  | { readonly outcome: "other_run" };

const insertObject = sql(
  "ingest_create_object",
  `SELECT outcome, id
   FROM ingest.create_object($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
);

/** Stores an object with the rows of a table, in one round trip and one transaction. @throws idempotency_in_progress */
export function createObject(db: Db, write: ObjectWrite): Promise<ObjectOutcome> {
  return withFreshIds(async () => {
    const outcome = await db.one<ObjectOutcome>(insertObject, [
      write.orgId,
      write.runId,
      write.projectId,
      write.onlyProject,
      write.idempotency?.key ?? null,
      write.idempotency?.body ?? null,
      write.takeId(),
      write.kind,
      write.key,
      write.step,
      write.artifactId,
      write.valueJson,
      write.metadataJson,
      write.summaryJson,
      byteaArray(write.chunks.map(({ rows }) => rows)),
      int4Array(write.chunks.map(({ bytes }) => bytes)),
    ]);
    return outcome!;
  });
}
