import { badRequest } from "@tidemark/errors";
import { sql, type Tx } from "@tidemark/pg";
import { runOfId } from "../read/runs.sql.ts";

/** Maximum bytes of free-form documents in one page; heavier runs have to be read in smaller pages. */
export const PAGE_BYTES_MAX = 64 * 1024 * 1024;

/** This many runs always fit: the documents of a run are created with at most 1,000,000 bytes. */
const RUNS_ALWAYS_FIT = 60;

/** Returns how many of the first runs fit into a page, 1 or more, given the bytes of each. */
export function runsThatFit(bytes: readonly number[]): number {
  let sum = 0;
  const over = bytes.findIndex((weight) => (sum += weight) > PAGE_BYTES_MAX);
  return over === -1 ? bytes.length : Math.max(1, over);
}

/** Returns the error of an answer that cannot show fewer runs than requested; `field` is the field that the caller has to make smaller. */
export function pageTooHeavy(fitting: number, field: "limit" | "run_ids" = "limit"): Error {
  return badRequest(
    `these runs have more than ${PAGE_BYTES_MAX / 1024 / 1024} MiB of documents; ask for at most ${fitting} at a time`,
    field,
  );
}

/** Expression: the bytes, as JSON, of the documents of a run whose size the client chose. */
const bytesOfDocuments = (run: string): string =>
  `octet_length(${run}.config) + octet_length(${run}.metadata) + coalesce(octet_length(array_to_json(${run}.tags)::text), 0)`;

const weighRunsSql = sql(
  "runs_weigh",
  `SELECT ${bytesOfDocuments("r")} AS bytes
   FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal)
   ${runOfId("chosen.id")}
   ORDER BY chosen.ordinal`,
);

/** Returns how many of the first of these runs fit into a page. Short pages are not weighed. */
export async function countFittingRuns(tx: Tx, orgId: string, ids: readonly string[]): Promise<number> {
  if (ids.length <= RUNS_ALWAYS_FIT) return ids.length;
  const rows = await tx.rows<{ bytes: number }>(weighRunsSql, [orgId, ids]);
  return runsThatFit(rows.map(({ bytes }) => bytes));
}

const listFittingSql = sql(
  "runs_list_fitting",
  `SELECT w.id FROM (
     SELECT r.id, asked.ordinal,
            sum(${bytesOfDocuments("r")})
              OVER (ORDER BY asked.ordinal) AS reached
     FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
     ${runOfId("asked.id")}
     WHERE $3::uuid IS NULL OR r.project_id = $3) w
   WHERE w.ordinal = 1 OR w.reached <= $4
   ORDER BY w.ordinal`,
);

/** Returns the first of `ids` whose documents have at most `bytesMax` bytes together, and always the first one. */
export async function listFittingRuns(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  projectId: string | undefined,
  bytesMax: number,
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(listFittingSql, [orgId, ids, projectId ?? null, bytesMax]);
  return rows.map(({ id }) => id);
}
