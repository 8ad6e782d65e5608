import { plannedSql, sql, type Statement, type Tx } from "@tidemark/pg";
import { findKeptColumn } from "../columns/kept-columns.sql.ts";
import { parameters, type Bind } from "../read/runs.sql.ts";
import { chooseAmongNewest } from "./choose-newest.sql.ts";
import { countRuns } from "./run-counts.sql.ts";
import type { RunFilter } from "./run-filter.sql.ts";
import { isDescending, metricOrderOf, type RunOrder, type RunPosition, type RunStart } from "./run-list.rules.ts";
import { orderedRuns, type OrderedRuns, type OrderPart } from "./run-orders.sql.ts";

/** A page of a list: its runs, their order, where it starts, and at most how many runs it has. */
export type RunChoice = {
  readonly filter: RunFilter;
  readonly order: RunOrder;
  readonly start: RunStart;
  readonly limit: number;
  /** Whether the same statement counts the runs that a search finds. */
  readonly counted?: boolean;
  /** Whether runs without a value to sort by are left out. */
  readonly valuedOnly?: boolean;
};

/** The positions of the runs of a page. */
type ChosenRuns = {
  readonly page: RunPosition[];
  /** How many runs pass the filter; undefined when that was not counted. */
  readonly found: number | undefined;
};

type ChosenRow = {
  /** Null in the only row of an empty page. */
  readonly id: string | null;
  readonly created_at: string;
  readonly found?: number;
  readonly [value: `value${number}`]: string | number;
};

/** This many runs are looked up and sorted in about 20 ms. */
const FEW_RUNS = 2000;

/**
 * Returns whether looking up few runs is quicker than finding them on a walk along the order. Runs of a project
 * are spread over it, so that the walk for a page passes limit * total / few runs; a look-up costs about
 * two steps. Runs of a status may all be at its end.
 */
async function isLookupCheaper(tx: Tx, orgId: string, { filter, limit }: RunChoice, few: number): Promise<boolean> {
  if (filter.status !== undefined || filter.displayStatus !== undefined) return true;
  const { total } = await countRuns(tx, orgId, { ...filter, projectId: undefined });
  return 2 * few * few < limit * total;
}

/**
 * Returns whether to read the counters first. A filter by status, or by a project where the order has no
 * index by project, may pass no runs for a long part of a walk, and PostgreSQL cannot foresee that: it
 * assumes that project and status are independent of each other.
 */
function needsCount({ filter, order }: RunChoice): boolean {
  if (filter.search !== undefined || filter.ids !== undefined) return false;
  if (filter.status !== undefined || filter.displayStatus !== undefined) return true;
  return filter.projectId !== undefined && (order.sort === "column" || order.sort.startsWith("metric-"));
}

/** A walk that passes over this many runs looks them up in about 10 ms. */
const DEEP_OFFSET = 1000;

/** The ids of this many runs take about 25 MB. */
const DEEP_RUNS_MAX = 300_000;

/** Returns whether a list begins so far down that all of its runs are read before the walk: where the index of its order lacks the filtered columns. */
async function isDeep(tx: Tx, orgId: string, { filter, order, start }: RunChoice, total?: number): Promise<boolean> {
  const { status, displayStatus, stale, search, ids } = filter;
  const isWalk = [status, displayStatus, stale, search, ids].every((part) => part === undefined);
  const isLookedUp = metricOrderOf(order) !== undefined || order.sort === "column";
  if (!isWalk || !isLookedUp || !("offset" in start) || start.offset < DEEP_OFFSET) return false;
  return (total ?? (await countRuns(tx, orgId, filter)).total) <= DEEP_RUNS_MAX;
}

/** Sorts in which every run has a value. */
const NO_REST = new Set(["created", "name", "status"]);

/** Returns whether a list begins with the newest run. */
function isNewestFirst(order: RunOrder): boolean {
  return order.sort === "created" && isDescending(order);
}

/**
 * Returns the positions of the runs of a page. Each statement walks an index in the order of the list, or sorts all that a search found.
 */
export async function chooseRuns(tx: Tx, orgId: string, asked: RunChoice): Promise<ChosenRuns> {
  const wanted = { ...asked, order: await withKept(tx, orgId, asked.order) };
  const { filter, order, start, limit } = wanted;
  if (isNewestFirst(order) && wanted.counted !== true && "offset" in start) {
    const page = await chooseAmongNewest(tx, orgId, filter, { offset: start.offset, limit });
    if (page !== undefined) return { page, found: undefined };
  }
  const total = needsCount(wanted) ? (await countRuns(tx, orgId, wanted.filter)).total : undefined;
  // Regardless of their number: only the running runs have to be looked at, and the stale ones may all be at the end of a walk.
  const isStale =
    wanted.filter.stale?.wanted === true && wanted.filter.search === undefined && wanted.filter.ids === undefined;
  const few =
    isStale || (total !== undefined && total <= FEW_RUNS && (await isLookupCheaper(tx, orgId, wanted, total)));
  const how = few ? { few } : (await isDeep(tx, orgId, wanted, total)) ? { deep: true } : {};
  const choice = { ...wanted, filter: { ...wanted.filter, ...how } };
  const read = async (part: OrderPart, at: RunStart, rows: number): Promise<ChosenRuns> => {
    const { statement, values } = choiceStatement(orgId, { ...choice, start: at, limit: rows }, part);
    const found = await tx.rows<ChosenRow>(statement, values);
    const page = found.flatMap((row) => (row.id === null ? [] : [positionOf(row, row.id, part)]));
    return { page, found: found[0]?.found ?? total };
  };
  if (isAgainstIndex(order)) await tx.rows(sortEqualSql, []);
  if ("after" in start && start.after.part === "rest") return read("rest", start, limit);
  const valued = await read("valued", start, limit);
  const { page, found } = valued;
  if (page.length === limit || wanted.valuedOnly === true || NO_REST.has(order.sort)) return valued;
  const skipped = "offset" in start && page.length === 0 ? await countBefore(tx, orgId, choice, start.offset) : 0;
  const rest = await read("rest", { offset: skipped }, limit - page.length);
  return { page: [...page, ...rest.page], found };
}

// Runs with equal values are sorted as the walk finds them, so the walk still ends with the page.
const sortEqualSql = plannedSql("runs_sort_equal", "SET LOCAL enable_incremental_sort = on");

/** Returns whether the index of an order has equal values in reverse: their time ascends where the index is walked from the other end. */
function isAgainstIndex(order: RunOrder): boolean {
  const metric = metricOrderOf(order);
  if (metric !== undefined) return !metric.descending;
  return ["name", "status"].includes(order.sort)
    ? isDescending(order)
    : order.sort === "duration" && !isDescending(order);
}

/** Returns the order with the id under which the values of its column are kept, if they are. */
async function withKept(tx: Tx, orgId: string, order: RunOrder): Promise<RunOrder> {
  if (order.sort !== "column" || order.column.kind === "metrics") return order;
  return { ...order, kept: await findKeptColumn(tx, orgId, order.column) };
}

/** Returns how far into the rest an offset beyond all valued runs leads. */
async function countBefore(tx: Tx, orgId: string, { filter, order }: RunChoice, offset: number): Promise<number> {
  if (offset === 0) return 0;
  const { values, bind } = parameters(orgId);
  const parts = orderedRuns(filter, order, "valued", bind);
  const counts = parts.map(({ from, where }) => `(SELECT count(*) FROM ${from} WHERE ${where})`).join(" + ");
  const statement = plannedSql("runs_count_valued", `${parts[0]?.with} SELECT ${counts} AS valued`);
  const row = await tx.one<{ valued: number }>(statement, values);
  return Math.max(0, offset - (row?.valued ?? 0));
}

/** Returns the statement of one part of a list and its values. */
export function choiceStatement(
  orgId: string,
  choice: RunChoice,
  part: OrderPart,
): { statement: Statement; values: readonly unknown[] } {
  const { values, bind } = parameters(orgId);
  const { filter, order, start, limit } = choice;
  const offset = "offset" in start ? start.offset : 0;
  const counted = choice.counted === true && filter.search !== undefined;
  const parts = orderedRuns(filter, order, part, bind);
  const ascending = parts.some(({ descending, values: columns }) => !descending && columns.length > 0);
  const sortOf = (columns: readonly string[], createdAt: string, id: string): string =>
    [...columns.map((column) => (ascending ? column : `${column} DESC`)), `${createdAt} DESC`, `${id} DESC`].join(", ");

  const single = parts.length === 1;
  const kept = isKept(choice);
  const rows = (count: number): string => (kept ? String(count) : bind(count));
  const selects = parts.map((runs) => {
    const columns = runs.values.map((value) => value.sql);
    const after = "after" in start ? ` AND ${afterCondition(runs, start.after, bind)}` : "";
    const list = columns.map((column, i) => `, ${column} AS value${i}`).join("");
    return `SELECT ${runs.id} AS id, ${runs.createdAt} AS created_at${list}
            FROM ${runs.from}
            WHERE ${runs.where}${after}
            ORDER BY ${sortOf(columns, runs.createdAt, runs.id)}
            LIMIT ${rows(single ? limit : limit + offset)}${single && offset > 0 ? ` OFFSET ${bind(offset)}` : ""}`;
  });
  const names = parts[0]?.values.map((_value, i) => `value${i}`) ?? [];
  const sorted = `ORDER BY ${sortOf(names, "created_at", "id")}`;
  const page = single
    ? `(${selects[0]}) page`
    : `(SELECT * FROM ((${selects.join(") UNION ALL (")})) parts
        ${sorted} LIMIT ${rows(limit)}${offset > 0 ? ` OFFSET ${bind(offset)}` : ""}) page`;
  const list = `id, created_at${valueColumns(parts[0])}`;
  const text = counted
    ? `${parts[0]?.with} SELECT counted.found, ${list}
       FROM (SELECT count(*) AS found FROM found) counted LEFT JOIN LATERAL ${page} ON true ${sorted}`
    : `${parts[0]?.with} SELECT ${list} FROM ${page}`;
  return { statement: kept ? sql(keptName(choice, part), text) : plannedSql(nameOf(order), text), values };
}

/**
 * Returns whether the statement is kept as a prepared one: planning costs more than a page of a plain list.
 * A limit in the text instead of a parameter lets one plan serve all values; the usual page sizes, and
 * one more, are few enough to keep. The best plan of a filter by status depends on the status.
 */
function isKept({ filter, order, start, limit }: RunChoice): boolean {
  if (order.sort === "column" && metricOrderOf(order) === undefined) return false;
  const { search, ids, few, status, displayStatus, stale } = filter;
  if ([search, ids, few, status, displayStatus, stale].some((part) => part !== undefined)) return false;
  return !("offset" in start && start.offset > 0) && KEPT_LIMITS.has(limit);
}

const KEPT_LIMITS = new Set([1, 25, 26, 50, 51, 100, 101]);

function nameOf(order: RunOrder): string {
  const metric = metricOrderOf(order);
  const by = metric === undefined ? order.sort : `metric_${metric.by}`;
  const descending = metric?.descending ?? isDescending(order);
  return `runs_choose_${by}${descending ? "_down" : "_up"}`;
}

/** Returns a name that is different for every kept statement. Names of statements have to be short. */
function keptName({ filter, order, start, limit }: RunChoice, part: OrderPart): string {
  const project = filter.projectId === undefined ? [] : ["p"];
  return [nameOf(order), part, ...project, "after" in start ? "after" : "first", limit].join("_");
}

/** Returns the select list of the sort values; intervals are returned as microseconds. */
function valueColumns(runs: OrderedRuns | undefined): string {
  return (runs?.values ?? [])
    .map(
      ({ type }, i) =>
        `, ${type === "interval" ? `(extract(epoch FROM value${i}) * 1000000)::bigint AS value${i}` : `value${i}`}`,
    )
    .join("");
}

/** Returns the condition on runs after a position: a comparison that bounds the walk along an index. */
function afterCondition({ values, descending, createdAt, id }: OrderedRuns, after: RunPosition, bind: Bind): string {
  const tail = `(${createdAt}, ${id})`;
  const tailValue = `(${bind(after.createdAt)}::timestamptz, ${bind(after.id)}::uuid)`;
  if (values.length === 0) return `${tail} < ${tailValue}`;
  const columns = values.map((value) => value.sql).join(", ");
  const bound = values
    .map(({ type }, i) => {
      const parameter = bind(after.values[i]);
      return type === "interval" ? `${parameter}::float8 * interval '1 microsecond'` : `${parameter}::${type}`;
    })
    .join(", ");
  if (descending) return `(${columns}, ${createdAt}, ${id}) < (${bound}, ${tailValue.slice(1)}`;
  return `(${columns}) >= (${bound}) AND NOT ((${columns}) = (${bound}) AND ${tail} >= ${tailValue})`;
}

function positionOf(row: ChosenRow, id: string, part: OrderPart): RunPosition {
  const values: (string | number)[] = [];
  for (let i = 0; ; i += 1) {
    const value = row[`value${i}`];
    if (value === undefined) return { part, values, createdAt: row.created_at, id };
    values.push(typeof value === "number" && !Number.isFinite(value) ? String(value) : value);
  }
}
