import { plannedSql, sql, type Statement, type Tx } from "@tidemark/pg";
import { statusNumber } from "../fold/span-ids.rules.ts";
import { readSummaryRest, type TraceSummary } from "../fold/summary.rules.ts";
import type { SearchTerm } from "./search-terms.rules.ts";

/** The place of a trace in a list. The run distinguishes traces of several runs with one id and one start. */
export type TracePosition = { readonly startedUs: number; readonly traceId: string; readonly runId: string };

/** The run or project whose traces are listed. */
export type TraceScope = { readonly kind: "run" | "project"; readonly id: string };

/** Which traces of a scope a page shows. */
export type TraceFilter = {
  /** 0: any. */
  readonly status: number;
  /** Bits of the kinds that need at least one span. */
  readonly kindBits: number;
  /** Bounds of the lowest step, both included; null: none. */
  readonly lowStep: number | null;
  readonly highStep: number | null;
  /** Bounds of the start; the first one is included. */
  readonly fromUs: number;
  readonly toUs: number;
  readonly terms: readonly SearchTerm[];
};

/** A trace of a list. */
export type TraceRow = TracePosition & { readonly updatedUs: number; readonly summary: TraceSummary };

type StoredTrace = {
  readonly traceId: string;
  readonly runId: string;
  readonly startedUs: number;
  readonly updatedUs: number;
  readonly status: number;
  readonly kinds: number;
  readonly minStep: number | null;
  readonly rootName: string;
  readonly threadId: string;
  readonly rolloutId: string;
  readonly summary: Uint8Array;
};

const RUNNING = statusNumber("running");

const COLUMNS = `t.trace_id AS "traceId", t.run_id AS "runId", t.started_us AS "startedUs", t.updated_us AS "updatedUs", t.status, t.kinds,
  t.min_step AS "minStep", t.root_name AS "rootName", t.thread_id AS "threadId", t.rollout_id AS "rolloutId", t.summary`;

/** The columns that `COLUMNS`, orders and positions name. */
const FOUND_COLUMNS = `t.trace_id, t.run_id, t.started_us, t.updated_us, t.status, t.kinds, t.min_step, t.root_name, t.thread_id, t.rollout_id, t.summary`;

/** The differences between the lists of a run and of a project: each is a walk of its own index. */
const SCOPES = {
  run: {
    column: "run_id",
    order: "t.started_us DESC, t.trace_id DESC",
    before: "(t.started_us, t.trace_id) < ($4, $5) AND $6::uuid IS NOT NULL",
  },
  project: {
    column: "project_id",
    order: "t.started_us DESC, t.trace_id DESC, t.run_id DESC",
    before: "(t.started_us, t.trace_id, t.run_id) < ($4, $5, $6)",
  },
} as const;

const scopeNames = ["run", "project"] as const;

function forScopes<T>(
  make: (scope: (typeof scopeNames)[number]) => T,
): Readonly<Record<(typeof scopeNames)[number], T>> {
  return { run: make("run"), project: make("project") };
}

const inScope = (scope: (typeof scopeNames)[number]): string =>
  `t.org_id = $1 AND t.${SCOPES[scope].column} = $2 AND t.started_us >= $3 AND ${SCOPES[scope].before}`;

// $8 to $11. Statuses are compared where they are known when the statement is planned, or last.
const PASSES = `t.kinds & $8::integer = $8::integer
  AND ($9::float8 IS NULL OR t.min_step >= $9) AND ($10::float8 IS NULL OR t.min_step <= $10)`;

const walkSql = forScopes((scope) =>
  sql(
    `traces_list_of_${scope}`,
    `SELECT ${COLUMNS} FROM traces.traces t WHERE ${inScope(scope)} ORDER BY ${SCOPES[scope].order} LIMIT $7::bigint`,
  ),
);
const runningSql = forScopes((scope) =>
  sql(
    `traces_list_running_of_${scope}`,
    `SELECT ${COLUMNS} FROM traces.traces t WHERE ${inScope(scope)} AND t.status = ${RUNNING} AND ${PASSES}
     ORDER BY ${SCOPES[scope].order} LIMIT $7::bigint`,
  ),
);
const filteredSql = sql(
  "traces_list_filtered",
  `SELECT ${COLUMNS} FROM traces.filtered_page($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) t`,
);

const SEARCHED = "traces.search_text(t.root_name, t.thread_id, t.rollout_id)";

// The newest traces are looked at one by one before the index of words is used: most words are not rare.
const PROBED_MAX = 1000;
const probeSql = forScopes((scope) =>
  sql(
    `traces_probe_${scope}`,
    `WITH walked AS MATERIALIZED (
       SELECT t.* FROM traces.traces t WHERE ${inScope(scope)} ORDER BY ${SCOPES[scope].order} LIMIT ${PROBED_MAX})
     SELECT c.walked, hit.* FROM (SELECT count(*) AS walked FROM walked) c
     LEFT JOIN LATERAL (
       SELECT ${COLUMNS} FROM walked t
       WHERE ${PASSES} AND ($11::integer = 0 OR t.status = $11)
         AND NOT EXISTS (SELECT FROM unnest($12::text[], $13::uuid[], $14::uuid[]) AS w (pattern, id_from, id_to)
                         WHERE NOT (${SEARCHED} LIKE w.pattern OR (w.id_from IS NOT NULL AND t.trace_id BETWEEN w.id_from AND w.id_to)))
       ORDER BY ${SCOPES[scope].order} LIMIT $7::bigint) hit ON true`,
  ),
);

/** The index of words knows texts by three consecutive characters that are not separators. */
const INDEXED_TERM = /[^\s\p{P}\p{S}]{3}/u;

/**
 * Returns the statement that finds the traces with all terms. Its parameters after $11 are those of the terms. A term that the index of words can answer
 * leaves nothing else to use: with the statistics of another day PostgreSQL would rather walk the list, or read all of an organization. A word that may
 * be the beginning of an id is looked for in two indexes, one after the other, for the same reason. The others walk the list.
 */
function searchSql(
  scope: TraceScope["kind"],
  terms: readonly SearchTerm[],
): { statement: Statement; values: unknown[] } {
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${11 + values.push(value)}`;
  const conditions = terms.map(({ pattern, idFrom, idTo }) => ({
    text: `${SEARCHED} LIKE ${place(pattern)}`,
    id: idFrom === null ? undefined : `t.trace_id BETWEEN ${place(idFrom)}::uuid AND ${place(idTo)}::uuid`,
    isIndexed: INDEXED_TERM.test(pattern),
  }));
  type Condition = (typeof conditions)[number];
  const passes = `${PASSES} AND ($11::integer = 0 OR t.status = $11)`;
  const all = (some: readonly Condition[]): string =>
    [passes, ...some.map(({ text, id }) => (id === undefined ? text : `(${text} OR ${id})`))].join(" AND ");
  const page = `ORDER BY ${SCOPES[scope].order} LIMIT $7::bigint`;
  const inScopeOnly = inScope(scope)
    .replace(`t.${SCOPES[scope].column} = $2`, `t.${SCOPES[scope].column} IS NOT DISTINCT FROM $2::uuid`)
    .replaceAll("t.started_us", "t.started_us + 0");
  const byWords = (condition: string): string =>
    `(SELECT * FROM traces.found_traces t WHERE ${inScopeOnly.replace("t.org_id = $1", "t.org_id::text = $1::uuid::text")} AND ${condition} OFFSET 0)`;
  const byId = (condition: string): string =>
    `(SELECT * FROM traces.traces t WHERE ${inScopeOnly} AND ${condition} OFFSET 0)`;

  const indexed = conditions.filter(({ isIndexed }) => isIndexed);
  const driving = indexed.find(({ id }) => id === undefined) ?? indexed[0];
  if (driving === undefined) {
    const text = `SELECT ${COLUMNS} FROM traces.traces t WHERE ${inScope(scope)} AND ${all(conditions)} ${page}`;
    return { statement: plannedSql(`traces_search_${scope}`, text), values };
  }
  const rest = all(conditions.filter((condition) => condition !== driving));
  const found = byWords(`${driving.text} AND ${rest}`);
  const text =
    driving.id === undefined
      ? `SELECT ${COLUMNS} FROM ${found} t ${page}`
      : `SELECT ${COLUMNS} FROM (
           SELECT ${FOUND_COLUMNS} FROM ${found} t
           UNION ALL SELECT ${FOUND_COLUMNS} FROM ${byId(`${driving.id} AND NOT ${driving.text} AND ${rest}`)} t) t ${page}`;
  return { statement: plannedSql(`traces_search_${scope}`, text), values };
}

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/**
 * Returns a page of the traces of a scope that pass the filter, the one that started last first, after a position. The transaction has plans
 * `by values` where the filter has terms, otherwise `walks`.
 */
export async function listTraceRows(
  tx: Tx,
  orgId: string,
  scope: TraceScope,
  filter: TraceFilter,
  page: { readonly after: TracePosition | undefined; readonly rowsMax: number },
): Promise<TraceRow[]> {
  const { after, rowsMax } = page;
  const { status, kindBits, lowStep, highStep, terms } = filter;
  // Traces that start at the upper bound are left out, as no id is below the first one.
  const before =
    after !== undefined && after.startedUs < filter.toUs
      ? after
      : { startedUs: filter.toUs, traceId: FIRST_ID, runId: FIRST_ID };
  const bounds = [String(BigInt(filter.fromUs)), String(BigInt(before.startedUs)), before.traceId, before.runId];
  const scoped = [orgId, scope.id, ...bounds, rowsMax];
  const passes = [kindBits, lowStep, highStep];
  if (terms.length > 0) {
    const columns = [
      terms.map(({ pattern }) => pattern),
      terms.map(({ idFrom }) => idFrom),
      terms.map(({ idTo }) => idTo),
    ];
    const hits = await tx.rows<StoredTrace & { walked: number }>(probeSql[scope.kind], [
      ...scoped,
      ...passes,
      status,
      ...columns,
    ]);
    const found = hits.filter(({ traceId }) => traceId !== null);
    if (found.length >= rowsMax || hits[0]!.walked < PROBED_MAX) return found.map(readRow);
    const { statement, values } = searchSql(scope.kind, terms);
    return (await tx.rows<StoredTrace>(statement, [...scoped, ...passes, status, ...values])).map(readRow);
  }
  if (status === RUNNING)
    return (await tx.rows<StoredTrace>(runningSql[scope.kind], [...scoped, ...passes])).map(readRow);
  if (status === 0 && kindBits === 0 && lowStep === null && highStep === null) {
    return (await tx.rows<StoredTrace>(walkSql[scope.kind], scoped)).map(readRow);
  }
  const values = [orgId, scope.id, scope.kind === "run", ...bounds, status, ...passes, rowsMax];
  return (await tx.rows<StoredTrace>(filteredSql, values)).map(readRow);
}

function readRow(row: StoredTrace): TraceRow {
  const { status, kinds, minStep, startedUs, rootName, threadId, rolloutId } = row;
  return {
    traceId: row.traceId.replaceAll("-", ""),
    runId: row.runId,
    startedUs,
    updatedUs: row.updatedUs,
    summary: {
      ...readSummaryRest(row.summary),
      status,
      kindBits: kinds,
      minStep: minStep ?? Number.NaN,
      startedUs,
      rootName,
      threadId,
      rolloutId,
    },
  };
}
