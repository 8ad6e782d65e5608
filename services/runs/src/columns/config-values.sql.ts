import { sql, type Tx } from "@tidemark/pg";
import { runOfId } from "../read/runs.sql.ts";

const weighSql = sql(
  "runs_weigh_configs",
  `SELECT coalesce(sum(octet_length(r.config)), 0)::float8 AS bytes FROM unnest($2::uuid[]) AS chosen (id) ${runOfId("chosen.id")}`,
);

/** Returns the number of bytes of the configs of runs. */
export async function weighConfigs(tx: Tx, orgId: string, ids: readonly string[]): Promise<number> {
  return (await tx.one<{ bytes: number }>(weighSql, [orgId, ids]))?.bytes ?? 0;
}

const configsSql = sql(
  "runs_read_configs",
  `SELECT r.config FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal) ${runOfId("chosen.id")} ORDER BY chosen.ordinal`,
);

/** Returns the configs of runs of the organization, in the order of `ids`. */
export async function readConfigs(tx: Tx, orgId: string, ids: readonly string[]): Promise<string[]> {
  return (await tx.rows<{ config: string }>(configsSql, [orgId, ids])).map(({ config }) => config);
}

/** The number that `log_config` of the SDK wrote last at a path. */
type LoggedNumber = { readonly run: number; readonly path: string; readonly number: number };

const loggedNumbersSql = sql(
  "runs_read_logged_numbers",
  `SELECT (chosen.ordinal - 1)::integer AS run, a.path, c.num AS number
   FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal)
   CROSS JOIN LATERAL (
     SELECT p.path FROM ingest.attribute_paths_v1($1, chosen.id) p WHERE starts_with(p.path, 'config/') LIMIT $3::bigint OFFSET 0
   ) a
   CROSS JOIN LATERAL (SELECT o.value FROM ingest.attribute_values_v1 o
                       WHERE o.org_id = $1 AND o.run_id = chosen.id AND o.path = a.path ORDER BY o.id DESC LIMIT 1) v
   CROSS JOIN LATERAL runs.comparable(v.value) c
   WHERE c.num <> 'NaN'`,
);

/** Returns the numbers that `log_config` of the SDK wrote, of at most `pathsMax` paths of each run; `run` is the index of the run in `ids`. */
export function readLoggedNumbers(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  pathsMax: number,
): Promise<LoggedNumber[]> {
  return tx.rows(loggedNumbersSql, [orgId, ids, pathsMax]);
}

const groupedSql = sql(
  "runs_read_grouped",
  `SELECT CASE WHEN $3 THEN r.config ELSE '{}' END AS config, r.tags || r.logged_tags AS tags
   FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal) ${runOfId("chosen.id")} ORDER BY chosen.ordinal`,
);

/** Returns tags, including those that the SDK logged, and, if requested, configs of runs of the organization, in the order of `ids`. */
export function readGroupedRuns(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  withConfigs: boolean,
): Promise<{ readonly config: string; readonly tags: readonly string[] }[]> {
  return tx.rows(groupedSql, [orgId, ids, withConfigs]);
}

/** The value that `log_config` of the SDK wrote last at a path that begins with `config/`. */
type LoggedValue = {
  readonly run: number;
  readonly path: string;
  /** JSON; null where it is beyond the requested number of bytes. */
  readonly value: string | null;
};

const loggedValuesSql = sql(
  "runs_read_logged_values",
  `SELECT w.run, w.path, CASE WHEN w.reached <= $4 THEN w.value END AS value
   FROM (
     SELECT v.*, sum(octet_length(v.value)) OVER (ORDER BY v.run, v.path) AS reached
     FROM (
       SELECT (chosen.ordinal - 1)::integer AS run, a.path, l.value::text AS value
       FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal)
       CROSS JOIN LATERAL (
         SELECT p.path FROM ingest.attribute_paths_v1($1, chosen.id) p WHERE starts_with(p.path, 'config/') LIMIT $3::bigint OFFSET 0
       ) a
       CROSS JOIN LATERAL (SELECT o.value FROM ingest.attribute_values_v1 o
                           WHERE o.org_id = $1 AND o.run_id = chosen.id AND o.path = a.path ORDER BY o.id DESC LIMIT 1) l
     ) v
   ) w
   ORDER BY w.run, w.path`,
);

/** Returns the values that `log_config` of the SDK wrote, of at most `pathsMax` paths of each run; `run` is the index of the run in `ids`. */
export function readLoggedValues(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  bounds: { readonly pathsMax: number; readonly bytesMax: number },
): Promise<LoggedValue[]> {
  return tx.rows(loggedValuesSql, [orgId, ids, bounds.pathsMax, bounds.bytesMax]);
}
