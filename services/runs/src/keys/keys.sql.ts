import { binarySql, sql, type Statement, type Tx } from "@tidemark/pg";
import { runOfId } from "../read/runs.sql.ts";
import { KEY_KINDS, keyOf, type Key, type KeyKind } from "./key.rules.ts";

/** Maximum number of keys of a kind listed for a project; the last ones by name are left out. */
const KEYS_MAX = 200_000;

const ofProject = `(SELECT o.id, o.config FROM runs.runs o WHERE o.org_id = $1 AND o.project_id = $2) r`;
const ofRuns = `(SELECT r.id, r.config FROM unnest($3::uuid[]) AS chosen (id) ${runOfId("chosen.id")} WHERE r.project_id = $2) r`;

/** The names of a kind that the run `r` has, each once. */
const NAMES: Readonly<Record<KeyKind, string>> = {
  metric: "SELECT k.key AS name FROM ingest.metric_keys_v1 k WHERE k.org_id = $1 AND k.run_id = r.id OFFSET 0",
  attribute: "SELECT a.path AS name FROM ingest.attribute_paths_v1($1, r.id) a OFFSET 0",
  config: `SELECT c.name FROM runs.config_names(r.config) AS c (name)
           UNION
           SELECT replace(substr(a.path, 8), '/', '.') FROM ingest.attribute_paths_v1($1, r.id) a
           WHERE starts_with(a.path, 'config/') AND octet_length(a.path) > 7
           OFFSET 0`,
};

const counted = (kind: KeyKind, runs: string): string =>
  `SELECT n.name COLLATE "C" AS name, count(*)::float8 AS runs FROM ${runs} CROSS JOIN LATERAL (${NAMES[kind]}) n
   GROUP BY n.name COLLATE "C" ORDER BY n.name COLLATE "C" LIMIT ${KEYS_MAX}`;

type Statements = Readonly<Record<KeyKind, Statement>>;
const statements = (name: string, runs: string): Statements =>
  Object.fromEntries(
    KEY_KINDS.map((kind) => [kind, binarySql(`${name}_${kind}`, counted(kind, runs))]),
  ) as unknown as Statements;

const ofProjectSql = statements("runs_count_keys", ofProject);
const ofRunsSql = statements("runs_count_keys_of_runs", ofRuns);

/** Counts the runs that have each key of a kind, of a project or of some of its runs; by name in code point order. */
export async function countKeys(
  tx: Tx,
  kind: KeyKind,
  {
    orgId,
    projectId,
    runIds,
  }: { readonly orgId: string; readonly projectId: string; readonly runIds?: readonly string[] },
): Promise<Key[]> {
  const keys: Key[] = [];
  const take = ({ name, runs }: { name: string; runs: number }): void => void keys.push(keyOf(kind, name, runs));
  if (runIds === undefined) await tx.each(ofProjectSql[kind], [orgId, projectId], take);
  else await tx.each(ofRunsSql[kind], [orgId, projectId, runIds], take);
  return keys;
}

const versionSql = sql(
  "runs_read_key_version",
  `SELECT coalesce((SELECT s.series FROM ingest.project_series_v1 s WHERE s.org_id = $1 AND s.project_id = $2), 0) AS series,
          coalesce((SELECT max(a.id) FROM ingest.attribute_values_v1 a WHERE a.org_id = $1), 0) AS attribute,
          p.runs_running + p.runs_finished + p.runs_failed AS runs, p.runs_deleted AS deleted
   FROM runs.projects p WHERE p.org_id = $1 AND p.id = $2`,
);

/** The state that the keys of a project depend on, as far as it is quickly known. */
type KeyVersion = {
  readonly series: number;
  /** The highest id of an attribute of the organization. */
  readonly attribute: number;
  readonly runs: number;
  readonly deleted: number;
};

/** Returns a text for each kind of key of a project which, while it stays the same, nearly always means the same keys; undefined: no such project. */
export async function readKeyVersions(
  tx: Tx,
  orgId: string,
  projectId: string,
): Promise<Readonly<Record<KeyKind, string>> | undefined> {
  const row = await tx.one<KeyVersion>(versionSql, [orgId, projectId]);
  if (row === undefined) return undefined;
  const { series, attribute, runs, deleted } = row;
  const logged = [attribute, runs, deleted].join();
  return { metric: [series, runs, deleted].join(), attribute: logged, config: logged };
}
