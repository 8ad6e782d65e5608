import { compareKeyBytes } from "@tidemark/codecs/metrics";
import { callerOf, requireLimit } from "@tidemark/requests";
import { LIST_METRIC_KEYS_MAX, RUNS_PAGE_ROWS } from "@tidemark/limits";
import { mapInTurns, createPauses } from "@tidemark/work";
import { readColumns } from "../columns/column.rules.ts";
import { readColumnCells } from "../columns/read-columns.ts";
import { listDeletedRuns } from "../deletion/list-deleted.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { metricKeysOf } from "../metrics/aggregates.rules.ts";
import { encodeRunSummary } from "../read/encode-rows.ts";
import type { RunRow } from "../read/runs.sql.ts";
import { readSummaries } from "../read/summaries.sql.ts";
import { chooseRuns } from "./choose-runs.sql.ts";
import { countFittingRuns, pageTooHeavy } from "./page-weight.sql.ts";
import { countMetricPoints, countRuns } from "./run-counts.sql.ts";
import { readRunCursor, writeRunCursor } from "./run-cursor.ts";
import { readOrder } from "./run-list.rules.ts";
import { withRuns } from "./with-runs.ts";
import { bestOfSortValue } from "./run-orders.sql.ts";
import { createHash, type Hash } from "node:crypto";

/**
 * Lists a page of runs with their summaries (API specification, GET /runs).
 * @throws bad_request, run_search_invalid, run_search_too_broad
 */
export function listRuns(deps: RunsDeps): RunsHandlers["listRuns"] {
  return async (request, call) => {
    if (request.deleted) return listDeletedRuns(deps, request, call);
    const order = readOrder(request.order ?? NO_ORDER);
    const limit = requireLimit(request.limit, RUNS_PAGE_ROWS.max);
    const start = { offset: Number(request.offset) };
    deps.sortKeys.ask(callerOf(call).orgId, request.filter?.q, order);
    const rows = await withRuns(deps, call, request.filter, async (tx, orgId, filter) => {
      const { page } = await chooseRuns(tx, orgId, { filter, order, start, limit });
      const ids = page.map(({ id }) => id);
      const fitting = await countFittingRuns(tx, orgId, ids);
      if (fitting < ids.length) throw pageTooHeavy(fitting);
      return readSummaries(tx, orgId, ids, LIST_METRIC_KEYS_MAX);
    });
    return { runs: await mapInTurns(rows, (row) => encodeRunSummary(row, deps.staleness)) };
  };
}

/**
 * Lists a page of runs with the total and the cursor of the next page (API specification, GET /api/runs/summary).
 * A page whose documents are too heavy ends early.
 * @throws bad_request, run_search_invalid, run_search_too_broad
 */
export function summarizeRuns(deps: RunsDeps): RunsHandlers["summarizeRuns"] {
  return async (request, call) => {
    const order = readOrder(request.order ?? NO_ORDER);
    const columns = readColumns(request.columns);
    const limit = requireLimit(request.limit, RUNS_PAGE_ROWS.max);
    const start = request.cursor === "" ? { offset: Number(request.offset) } : readRunCursor(request.cursor, order);
    deps.sortKeys.ask(callerOf(call).orgId, request.filter?.q, order);
    deps.columnKeeper.ask(callerOf(call).orgId, order);
    const metricKeysMax = request.selection ? 0 : LIST_METRIC_KEYS_MAX;
    const read = await withRuns(deps, call, request.filter, async (tx, orgId, filter) => {
      // One more run shows whether there is a next page.
      const choice = { filter, order, start, limit: limit + 1, counted: true };
      const { page, found } = await chooseRuns(tx, orgId, choice);
      const ids = page.slice(0, limit).map(({ id }) => id);
      const fitting = await countFittingRuns(tx, orgId, ids);
      const rows = await readSummaries(tx, orgId, ids.slice(0, fitting), metricKeysMax);
      const cells = await readColumnCells(tx, orgId, rows, columns);
      const shown = columns.length === 0 ? fitting : cells.length;
      const total = found ?? (await countRuns(tx, orgId, filter)).total;
      const last = page.length > shown ? page[shown - 1] : undefined;
      return { rows: rows.slice(0, shown), cells, total, last };
    });
    const { rows, cells, total, last } = read;
    const nextCursor = last === undefined ? "" : writeRunCursor(order, last);
    const tag = await summaryTag(rows, [request.selection, request.columns, cells, total, nextCursor]);
    if (isKnownTag(tag, request.knownTags)) return { tag, notModified: true };
    return {
      runs: await mapInTurns(rows, (row) => encodeRunSummary(row, deps.staleness)),
      metricKeys: [...new Set(rows.flatMap(metricKeysOf))].toSorted(compareKeyBytes).slice(0, LIST_METRIC_KEYS_MAX),
      total: BigInt(total),
      nextCursor,
      columnValues: cells,
      tag,
    };
  };
}

const NO_ORDER = { sortBy: "", metricKey: "", sortDir: "" };

/**
 * Sums up the runs of a filter (API specification, GET /api/overview).
 * @throws run_search_invalid, run_search_too_broad
 */
export function getOverview(deps: RunsDeps): RunsHandlers["getOverview"] {
  return async ({ filter: message, metricKey }, call) => {
    const order = { sort: "metric-best", metricKey } as const;
    deps.sortKeys.ask(callerOf(call).orgId, message?.q, order);
    const read = await withRuns(deps, call, message, async (tx, orgId, filter) => ({
      counts: await countRuns(tx, orgId, filter),
      points: await countMetricPoints(tx, orgId, filter),
      best: (await chooseRuns(tx, orgId, { filter, order, start: { offset: 0 }, limit: 1, valuedOnly: true })).page[0],
    }));
    const { counts, points, best } = read;
    const sortValue = best?.values[0];
    return {
      totalRuns: BigInt(counts.total),
      activeRuns: BigInt(counts.running),
      failedRuns: BigInt(counts.failed),
      stoppingRuns: BigInt(counts.stopping),
      stoppedRuns: BigInt(counts.stopped),
      ...(sortValue === undefined ? {} : { bestValue: bestOfSortValue(metricKey, Number(sortValue)) }),
      metricPoints: BigInt(points),
    };
  };
}

/** The form of the tags of pages. Raise it when the same rows give another answer. */
const FORM = 1;
const TAG_BYTES = 15;
/** Matches every tag (RFC 9110, If-None-Match). */
const ANY = "*";

/**
 * Returns the tag of a page: twenty characters of URL-safe text, equal for equal pages. When a run was last seen, and whether it is stale, is not
 * part of it. `rest` holds the parts of the page other than its rows.
 */
async function summaryTag(rows: readonly RunRow[], rest: readonly unknown[]): Promise<string> {
  const hash = createHash("sha256");
  const pauseIfLong = createPauses();
  for (const row of rows) {
    addRow(hash, row);
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
  hash.update(JSON.stringify([FORM, rest]));
  return hash.digest().subarray(0, TAG_BYTES).toString("base64url");
}

/**
 * Adds each value after its length, so that no two rows are added alike; the bytes follow the texts. As few pieces as possible: a hash takes as long
 * for a call as for hundreds of bytes.
 */
function addRow(hash: Hash, row: RunRow): void {
  let text = "";
  const bytes: Buffer[] = [];
  for (const [name, value] of Object.entries(row) as [string, unknown][]) {
    if (name === "seen_at") continue;
    if (Buffer.isBuffer(value)) {
      text += `${value.length} bytes `;
      bytes.push(value);
    } else {
      const data = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      text += `${data.length} ${typeof value} ${data}`;
    }
  }
  hash.update(`${text.length} ${text}`);
  if (bytes.length > 0) hash.update(Buffer.concat(bytes));
}

/** Returns whether the page with this tag is among those that the caller knows. */
function isKnownTag(tag: string, known: readonly string[]): boolean {
  return known.includes(tag) || known.includes(ANY);
}
