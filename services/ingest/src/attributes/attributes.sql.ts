import { LOG_LINES_MAX, PAGE_BYTES_MAX } from "@tidemark/limits";
import { REQUEST_IDS } from "@tidemark/codecs/logs";
import {
  claimKey,
  type Db,
  float8Array,
  idempotencyHashesInTurns,
  type IdempotentRequest,
  int8Array,
  keepReply,
  sql,
  textArray,
  type Tx,
} from "@tidemark/pg";
import { mapInTurns } from "@tidemark/work";
import type { LogStream } from "../logs/log-page.rules.ts";
import type { IdSource } from "../writes/writes.rules.ts";
import { withFreshIds } from "../writes/fresh-ids.sql.ts";
import type { FoundLines } from "./captured-lines.rules.ts";

/** One accepted request of attributes, at least one. */
export type AttributeWrite = {
  readonly orgId: string;
  readonly runId: string;
  readonly projectId: string;
  readonly takeIds: IdSource["take"];
  readonly attributes: readonly AttributeRow[];
  /** Which attributes are also stored as console lines; undefined: none. */
  readonly captured: CapturedLines | undefined;
};

/** Attributes that are also stored as console lines. */
export type CapturedLines = FoundLines & {
  /** Seconds until a compactor should look at a stream; null: the write leaves no dirty marker. */
  readonly markerSeconds: Readonly<Record<LogStream, number | null>>;
};

/** One attribute in its stored form. */
export type AttributeRow = {
  readonly path: string;
  readonly type: string;
  readonly step: number | undefined;
  /** RFC 3339, empty when the client sent none. */
  readonly loggedAt: string;
  readonly valueJson: string;
  readonly summaryJson: string;
  /** Empty: none. */
  readonly artifactId: string;
};

/**
 * The outcome of a write: the rows have the ids from `firstId` on, or the artifact of the attribute at `place`, counted from 1, does not belong to
 * the run.
 */
export type AttributeOutcome =
  | {
      readonly outcome: "inserted";
      readonly firstId: number;
      readonly createdAt: string;
      /** The highest number of a captured line; null without one. */
      readonly highestLine: number | null;
    }
  | { readonly outcome: "no_artifact"; readonly place: number };

const insertAttributes = sql(
  "ingest_append_attributes",
  `SELECT outcome, place, stored_at AS "createdAt", $4::bigint AS "firstId", NULL::bigint AS "highestLine"
   FROM ingest.append_attributes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const insertCaptured = sql(
  "ingest_append_captured",
  `SELECT outcome, place, stored_at AS "createdAt", $4::bigint AS "firstId", highest_line AS "highestLine"
   FROM ingest.append_captured($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
);

/** Stores all attributes of a request or none, in one round trip and one transaction. */
export async function appendAttributes(db: Db, write: AttributeWrite): Promise<AttributeOutcome> {
  return withFreshIds(() => insert(db, write));
}

/** Does the same once for each idempotency key: a repeat stores nothing. @throws idempotency_key_reused, idempotency_in_progress */
export async function appendAttributesOnce(
  db: Db,
  write: AttributeWrite,
  request: IdempotentRequest,
): Promise<AttributeOutcome | "replayed"> {
  const hashes = await idempotencyHashesInTurns(request);
  return withFreshIds(() =>
    db.withTenant(write.orgId, async (tx) => {
      if ((await claimKey(tx, write.orgId, hashes)) !== undefined) return "replayed";
      const outcome = await insert(tx, write);
      if (outcome.outcome === "inserted") await keepReply(tx, write.orgId, hashes, new Uint8Array());
      return outcome;
    }),
  );
}

async function insert(tx: Tx, write: AttributeWrite): Promise<AttributeOutcome> {
  const rows = write.attributes;
  const linked = rows.some(({ artifactId }) => artifactId !== "");
  const columns = await mapInTurns(
    [
      () => textArray(rows.map((row) => row.path)),
      () => textArray(rows.map((row) => row.type)),
      () => float8Array(rows.map((row) => row.step ?? Number.NaN)),
      () => textArray(rows.map((row) => row.loggedAt || null)),
      () => textArray(rows.map((row) => row.valueJson)),
      () => textArray(rows.map((row) => row.summaryJson)),
      () => textArray(linked ? rows.map((row) => row.artifactId || null) : []),
    ],
    (column) => column(),
  );
  const values = [write.orgId, write.runId, write.projectId, write.takeIds(rows.length), ...columns];
  const { captured } = write;
  const outcome = await (captured === undefined
    ? tx.one<AttributeOutcome>(insertAttributes, values)
    : tx.one<AttributeOutcome>(insertCaptured, [
        ...values,
        textArray(captured.streams),
        int8Array(segmentIds(captured.sizes.stdout.lines, write.takeIds)),
        captured.markerSeconds.stdout,
        int8Array(segmentIds(captured.sizes.stderr.lines, write.takeIds)),
        captured.markerSeconds.stderr,
        LOG_LINES_MAX,
      ]));
  return outcome!;
}

/** Takes the ids of segments for this many lines. */
function segmentIds(lines: number, takeIds: AttributeWrite["takeIds"]): number[] {
  return Array.from({ length: Math.ceil(lines / LOG_LINES_MAX) }, () => takeIds(LOG_LINES_MAX, REQUEST_IDS));
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
  readonly artifactId: string | null;
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
  `SELECT id, path, type, step, logged_at AS "loggedAt", CASE WHEN reached <= $7 THEN value END AS "valueJson",
          CASE WHEN reached <= $7 THEN summary END AS "summaryJson", artifact_id AS "artifactId", created_at AS "createdAt", bytes
   FROM (SELECT *, sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) AS reached
         FROM (SELECT id, path, type, step, logged_at, value, summary, artifact_id, created_at,
                      bytes - octet_length(path) + octet_length(to_json(path)::text) AS bytes FROM ingest.attributes
               WHERE org_id = $1 AND run_id = $2 AND ($3 = '' OR type = $3) AND ($4 = '' OR starts_with(path, $4))
               ORDER BY step NULLS FIRST, id LIMIT $5 OFFSET $6) page) weighed`,
);

/**
 * Returns a page of a run's attributes by step, those without a step first, then by id. For the rows after the first `PAGE_BYTES_MAX` bytes of
 * JSON, the documents are neither read nor returned.
 */
export function listAttributes(
  tx: Tx,
  query: AttributeQuery,
): Promise<(AttributeRecord & { readonly bytes: number })[]> {
  const { orgId, runId, type, pathPrefix, limit, offset } = query;
  return tx.rows(listRows, [orgId, runId, type, pathPrefix, limit, offset, PAGE_BYTES_MAX]);
}
