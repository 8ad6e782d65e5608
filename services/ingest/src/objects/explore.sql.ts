import { sql, type Statement, type Tx } from "@tidemark/pg";
import type { ObjectPosition, WalkedObject } from "./explore.rules.ts";
import { objectColumns, objectsByIds, type ObjectRow } from "./objects.sql.ts";

/** Whose objects: of runs, of a project, or of the whole organization. */
export type ObjectScope =
  | { readonly runIds: readonly string[] }
  | { readonly projectId: string }
  | { readonly organization: true };

/** The search: one walk for each kind of each run, of the project, or of the organization. */
export type ObjectSearch = {
  readonly orgId: string;
  readonly scope: ObjectScope;
  readonly kinds: readonly string[];
  /** A part of the key; empty: all. */
  readonly keyPart: string;
  /** Both inclusive. */
  readonly fromStep: number;
  readonly toStep: number;
  /** The list begins after this object; undefined: from the start. */
  readonly after: ObjectPosition | undefined;
  /** Objects that a walk returns at most, and objects that it looks at. */
  readonly rowsMax: number;
  readonly looksMax: number;
};

/** Walks the index of an order for each row of `sources`. Row numbers follow the order of the index, because the window has no other. */
const walkOf = (name: string, sources: string, condition: string): Statement =>
  sql(
    name,
    `SELECT (source.n)::integer AS walk, w.id, w.order_step AS step, w.created_at AS "createdAt", w.bytes, w.matches, w.n = $9 AS stopped
     FROM ${sources} CROSS JOIN LATERAL (
       SELECT * FROM (
         SELECT o.*, position($3 IN o.key) > 0 AS matches, row_number() OVER () AS n FROM (
           SELECT t.id, t.key, t.order_step, t.created_at, t.bytes FROM ingest.objects t
           WHERE t.org_id = $1 AND ${condition} AND t.order_step BETWEEN $4 AND $5
             AND (t.order_step, t.created_at, t.id) < ($6, $7, $8)
           ORDER BY t.order_step DESC, t.created_at DESC, t.id DESC LIMIT $9) o) looked
       WHERE matches OR n = $9 LIMIT $10) w`,
  );

const kindsOnly = "unnest($2::text[]) WITH ORDINALITY AS source (kind, n)";

const walkRuns = walkOf(
  "ingest_walk_objects_of_runs",
  `(SELECT k.kind, r.id AS run_id, row_number() OVER () AS n
    FROM unnest($11::uuid[]) AS r (id) CROSS JOIN unnest($2::text[]) AS k (kind)) source`,
  "t.run_id = source.run_id AND t.kind = source.kind",
);
const walkProject = walkOf(
  "ingest_walk_objects_of_project",
  kindsOnly,
  "t.project_id = $11::uuid AND t.kind = source.kind",
);
const walkOrganization = walkOf("ingest_walk_objects_of_org", kindsOnly, "t.kind = source.kind");

/** Walks the objects that a search may find. */
export function walkObjects(tx: Tx, search: ObjectSearch): Promise<WalkedObject[]> {
  const { orgId, scope, kinds, keyPart, fromStep, toStep, after, rowsMax, looksMax } = search;
  const position = [after?.step ?? Number.POSITIVE_INFINITY, after?.createdAt ?? "infinity", after?.id ?? 0];
  const values = [orgId, kinds, keyPart, fromStep, toStep, ...position, looksMax, rowsMax];
  if ("runIds" in scope) return tx.rows(walkRuns, [...values, scope.runIds]);
  if ("projectId" in scope) return tx.rows(walkProject, [...values, scope.projectId]);
  return tx.rows(walkOrganization, values);
}

/** An object as lists over runs show it: only histograms and evaluations with their values. */
export type ExploredRow = ObjectRow & {
  readonly runName: string;
  readonly project: string;
  readonly loggedAt: string;
  /** The beginning of the value: for a text the text itself, otherwise its JSON. */
  readonly preview: string;
};

const exploreRows = sql(
  "ingest_explore_objects",
  `SELECT ${objectColumns}, l.name AS "runName", p.name AS project, coalesce(a.logged_at, o.created_at) AS "loggedAt",
          CASE WHEN o.kind IN ('histogram', 'classification_eval') THEN coalesce(o.value, a.value) END AS "valueJson",
          coalesce(left(coalesce(o.value, a.value) #>> '{}', $3), 'null') AS preview
   FROM ${objectsByIds}
   CROSS JOIN LATERAL (SELECT r.name FROM runs.run_labels_v1 r WHERE r.org_id = $1 AND r.id = o.run_id OFFSET 0) l
   CROSS JOIN LATERAL (SELECT j.name FROM runs.project_refs_v1 j WHERE j.org_id = $1 AND j.id = o.project_id OFFSET 0) p`,
);

/** Returns objects by their ids, in the order of the ids, with at most `previewLength` characters of their values. */
export function readExplored(
  tx: Tx,
  orgId: string,
  ids: readonly number[],
  previewLength: number,
): Promise<ExploredRow[]> {
  return tx.rows(exploreRows, [orgId, ids, previewLength]);
}

const findProject = sql(
  "ingest_find_project",
  "SELECT p.id FROM runs.project_refs_v1 p WHERE p.org_id = $1 AND p.name = $2",
);

/** Returns the id of the organization's project of this name. */
export async function findProjectByName(tx: Tx, orgId: string, name: string): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findProject, [orgId, name]))?.id;
}
