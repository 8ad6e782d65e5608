import { badRequest, notFound } from "@tidemark/errors";
import { SPAN_KINDS, SPAN_STATUSES, TRACE_LIMITS, TRACES_PAGE_ROWS, TRACES_RUNS_MAX } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { ListTracesRequest } from "@tidemark/proto/traces/v1/traces";
import { callerOf, canBeFound, isUuid, pathId, requireLimit, throwFault, type Caller } from "@tidemark/requests";
import { readCursor, writeCursor } from "@tidemark/values";
import type { TracesDeps, TracesHandlers } from "../deps.ts";
import { encodeTrace } from "../read/encode-trace.ts";
import { findProjectByName, findRunLabels, hasProject } from "../runs/runs.sql.ts";
import { readSort, sortedPage } from "./sort-traces.ts";
import { readMerged } from "./merge-runs.ts";
import { readTerms } from "./search-terms.rules.ts";
import { listTraceRows, type TraceFilter, type TracePosition, type TraceScope } from "./trace-rows.sql.ts";

const DAY_US = 24 * 60 * 60 * 1_000_000;
/** Bounds that no start reaches: the years 1 to 9999. */
const FIRST_US = -62_135_596_800_000_000;
const LAST_US = 253_402_300_800_000_000;

/** TracesService.ListTraces. @throws not_found, bad_request */
export function listTraces(deps: TracesDeps): TracesHandlers["listTraces"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const scope = await findScope(deps, caller, request);
    throwFault(request.queryFault);
    const filter = readFilter(request, scope, deps.now().getTime() * 1000);
    const limit = requireLimit(request.limit, TRACES_PAGE_ROWS.max);
    const sort = readSort(request.sort);
    const after = sort === undefined ? readTraceCursor(request.cursor) : undefined;
    if (!canBeFound(request.q)) return { traces: [], nextCursor: "" };
    return deps.db.readTenant(
      orgId,
      async (tx) => {
        const readOf = (one: TraceScope) => (from: TracePosition | undefined, rowsMax: number) =>
          listTraceRows(tx, orgId, one, filter, { after: from, rowsMax });
        const read = scope.kind === "runs" ? readMerged(scope.ids, (id) => readOf({ kind: "run", id })) : readOf(scope);
        const sorted = sort && (await sortedPage(sort, { cursor: request.cursor, limit }, read));
        // One more shows whether there is a next page.
        const rows = sorted?.rows ?? (await read(after, limit + 1));
        const page = rows.slice(0, limit);
        const labels = await findRunLabels(
          tx,
          orgId,
          page.map(({ runId }) => runId),
        );
        return {
          traces: page.flatMap((row) => {
            const label = labels.get(row.runId);
            return label === undefined ? [] : [encodeTrace({ ...row, label })];
          }),
          nextCursor: sorted?.nextCursor ?? (rows.length > limit ? writeTraceCursor(page.at(-1)!) : ""),
          ...(sorted === undefined ? {} : { sortedCount: sorted.count }),
        };
      },
      { plans: filter.terms.length > 0 ? "by values" : "walks" },
    );
  };
}

/** Whose traces a list has: those of a run, a project, or some runs. */
type ListScope = TraceScope | { readonly kind: "runs"; readonly ids: readonly string[] };

/** Returns the run, runs or project whose traces are requested. @throws not_found, bad_request without a run or project */
async function findScope(
  { db, runs }: Pick<TracesDeps, "db" | "runs">,
  caller: Caller,
  { runId, runIds, projectId, project }: ListTracesRequest,
): Promise<ListScope> {
  if (runId !== "") {
    const id = pathId(runId, "run");
    await runs.require(caller, [id]);
    return { kind: "run", id };
  }
  if (runIds.length > 0) {
    const ids = [...new Set(runIds.map((id) => pathId(id, "run")))];
    if (ids.length > TRACES_RUNS_MAX) throw badRequest(`run_ids may name at most ${TRACES_RUNS_MAX} runs`, "run_ids");
    await runs.require(caller, ids);
    return { kind: "runs", ids };
  }
  const found = await db.readTenant(caller.orgId, (tx) => findProject(tx, caller, projectId, project));
  if (found === undefined) throw notFound("project");
  if (caller.projectId !== undefined && caller.projectId !== found) throw notFound("project");
  return { kind: "project", id: found };
}

/** @throws bad_request */
async function findProject(tx: Tx, caller: Caller, projectId: string, name: string): Promise<string | undefined> {
  if (projectId !== "") {
    const id = projectId.toLowerCase();
    return isUuid(id) && (await hasProject(tx, caller.orgId, id)) ? id : undefined;
  }
  if (name !== "") return findProjectByName(tx, caller.orgId, name);
  if (caller.projectId !== undefined) return caller.projectId;
  throw badRequest("run_id, project_id or project is required", "project");
}

/** @throws bad_request */
function readFilter(request: ListTracesRequest, scope: ListScope, nowUs: number): TraceFilter {
  const { minStep, maxStep } = request;
  if (minStep !== undefined && maxStep !== undefined && minStep > maxStep) {
    throw badRequest("min_step must not be above max_step", "min_step");
  }
  const toUs = request.toUs ?? LAST_US;
  const earliest =
    scope.kind !== "project" ? FIRST_US : Math.max((request.toUs ?? nowUs) - TRACE_LIMITS.listDays * DAY_US, FIRST_US);
  const fromUs = request.fromUs ?? earliest;
  if (toUs <= fromUs) throw badRequest("to must be after from", "to");
  const kind = wordNumber(SPAN_KINDS, request.kind, "kind");
  const hasSteps = minStep !== undefined || maxStep !== undefined;
  return {
    status: wordNumber(SPAN_STATUSES, request.status, "status"),
    kindBits: kind === 0 ? 0 : 1 << (kind - 1),
    // One bound alone also leaves out the traces without a step.
    lowStep: hasSteps ? (minStep ?? -Number.MAX_VALUE) : null,
    highStep: hasSteps ? (maxStep ?? Number.MAX_VALUE) : null,
    fromUs,
    toUs,
    terms: canBeFound(request.q) ? readTerms(request.q) : [],
  };
}

/** Returns the number of a word, from 1; 0 for none and for `all`. @throws bad_request for an unknown one */
function wordNumber(words: readonly string[], word: string, field: string): number {
  if (word === "" || word === "all") return 0;
  const found = words.indexOf(word);
  if (found === -1) throw badRequest(`${field} must be one of all, ${words.join(", ")}`, field);
  return found + 1;
}

/** Returns the cursor of the page after a trace. It stays valid while traces are added. */
function writeTraceCursor({ startedUs, traceId, runId }: TracePosition): string {
  return writeCursor([startedUs, traceId, runId]);
}

/** Reads a cursor; the empty text means the first page. @throws bad_request */
function readTraceCursor(cursor: string): TracePosition | undefined {
  if (cursor === "") return undefined;
  const [startedUs, traceId, runId] = readCursor(cursor, 3) ?? [];
  const isTrace = typeof traceId === "string" && /^[0-9a-f]{32}$/.test(traceId);
  if (isTrace && Number.isInteger(startedUs) && typeof runId === "string" && isUuid(runId)) {
    return { startedUs: startedUs as number, traceId, runId };
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
