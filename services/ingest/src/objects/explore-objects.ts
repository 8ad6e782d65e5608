import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, isAppError } from "@tidemark/errors";
import { EXPLORER_PAGE_ROWS, OBJECT_KINDS, EXPLORER_RUNS_MAX } from "@tidemark/limits";
import type { Db, Tx } from "@tidemark/pg";
import type {
  ExploredObjectSchema,
  ExploreObjectsRequest,
  ExploreObjectsRequestSchema,
  ExploreObjectsResponseSchema,
} from "@tidemark/proto/ingest/v1/objects";
import { callerOf, isUuid, pathId, type Caller, type RunDirectory } from "@tidemark/requests";
import type { Call, Handler, Client } from "@tidemark/rpc";
import { encodeObject } from "./list-objects.ts";
import { mergeWalks, readObjectCursor, writeObjectCursor } from "./explore.rules.ts";
import { findProjectByName, readExplored, walkObjects, type ExploredRow, type ObjectScope } from "./explore.sql.ts";
import type { RunsService } from "@tidemark/proto/runs/v1/runs";

/** Returns the ids of the runs that a search of the caller finds. @throws object_explorer_invalid also when there are too many */
export type FindRunsOfSearch = (
  search: { readonly q: string; readonly project: string; readonly projectId: string },
  call: Call,
) => Promise<readonly string[]>;

/** Objects that a page looks at, so that a page with a filter that few objects pass takes no longer than others. */
const LOOKS_MAX = 12_000;
const PREVIEW_CHARACTERS = 512;

/**
 * IngestReadService.ExploreObjects: objects of a run, of the runs that a search finds, of a project, or of the organization. Data that the caller
 * may not see does not exist: a list of it is empty, like the list of an unknown project.
 * @throws not_found for an unknown run, object_explorer_invalid
 */
export function exploreObjectsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly searchRuns: FindRunsOfSearch;
}): Handler<typeof ExploreObjectsRequestSchema, typeof ExploreObjectsResponseSchema> {
  const { db, runs, searchRuns } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const { limit } = request;
    if (!(limit >= 1 && limit <= EXPLORER_PAGE_ROWS.max)) {
      throw invalid(`limit must be a whole number from 1 to ${EXPLORER_PAGE_ROWS.max}`, "limit");
    }
    const after = request.cursor === "" ? undefined : readObjectCursor(request.cursor);
    const named = request.runId === "" ? undefined : pathId(request.runId, "run");
    const namedProject = named === undefined ? undefined : await runs.projectOf(caller, named);
    const found = request.q === "" ? undefined : await searchRuns(request, call);
    const runIds = named === undefined ? found : [named].filter((id) => found?.includes(id) !== false);
    return db.readTenant(
      orgId,
      async (tx) => {
        const project = await projectOf(tx, caller, request, namedProject);
        const scope = scopeOf(project, runIds);
        if (scope === undefined) return {};
        const kinds = request.kind === "" ? OBJECT_KINDS : [request.kind];
        const walks = kinds.length * ("runIds" in scope ? scope.runIds.length : 1);
        const rowsMax = limit + 1;
        const walked = await walkObjects(tx, {
          orgId,
          scope,
          kinds,
          keyPart: request.key,
          ...stepsOf(request),
          after,
          rowsMax,
          looksMax: Math.max(Math.floor(LOOKS_MAX / walks), rowsMax),
        });
        const page = mergeWalks(walked, limit, rowsMax);
        const rows = page.ids.length === 0 ? [] : await readExplored(tx, orgId, page.ids, PREVIEW_CHARACTERS + 1);
        return {
          objects: rows.map((row) => encodeExplored(orgId, row)),
          nextCursor: page.after === undefined ? "" : writeObjectCursor(page.after),
        };
      },
      { plans: "walks" },
    );
  };
}

/** Returns the only project that the request and the caller refer to; `any`: all; `none`: the names contradict each other, or there is none. */
async function projectOf(
  tx: Tx,
  { orgId, projectId: own }: Caller,
  { projectId, project }: ExploreObjectsRequest,
  ofRun: string | undefined,
): Promise<{ readonly id: string } | "any" | "none"> {
  const asked = new Set<string>();
  if (projectId !== "") asked.add(projectId.toLowerCase());
  if (project !== "") asked.add((await findProjectByName(tx, orgId, project)) ?? "");
  if (own !== undefined) asked.add(own);
  if (ofRun !== undefined) asked.add(ofRun);
  const [id] = asked;
  if (id === undefined) return "any";
  return asked.size === 1 && isUuid(id) ? { id } : "none";
}

/** Returns the scope of the objects to list; undefined: no objects. */
function scopeOf(
  project: { readonly id: string } | "any" | "none",
  runIds: readonly string[] | undefined,
): ObjectScope | undefined {
  if (project === "none" || runIds?.length === 0) return undefined;
  if (runIds !== undefined) return { runIds };
  return project === "any" ? { organization: true } : { projectId: project.id };
}

function stepsOf({ fromStep, toStep }: ExploreObjectsRequest): { fromStep: number; toStep: number } {
  if (fromStep === undefined && toStep === undefined) {
    return { fromStep: Number.NEGATIVE_INFINITY, toStep: Number.POSITIVE_INFINITY };
  }
  return { fromStep: fromStep ?? 0, toStep: toStep ?? Number.POSITIVE_INFINITY };
}

function invalid(text: string, field: string): AppError {
  return new AppError("object_explorer_invalid", text, { field });
}

function encodeExplored(orgId: string, row: ExploredRow): MessageInitShape<typeof ExploredObjectSchema> {
  const characters = Array.from(row.preview);
  return {
    object: encodeObject(orgId, row),
    runName: row.runName,
    project: row.project,
    loggedAt: row.loggedAt,
    preview: characters.slice(0, PREVIEW_CHARACTERS).join(""),
    previewTruncated: characters.length > PREVIEW_CHARACTERS,
  };
}

type Runs = Pick<Client<(typeof RunsService)["method"]>, "summarizeRuns">;

/** Returns a search of runs that calls the runs service. */
export function searchRunsOf(runs: Runs): FindRunsOfSearch {
  return async ({ q, project, projectId }, call) => {
    const filter = { q, ...(project === "" ? {} : { project }), ...(projectId === "" ? {} : { projectId }) };
    const request = { filter, order: { sortBy: "created" }, limit: EXPLORER_RUNS_MAX + 1, selection: true };
    const found = await runs.summarizeRuns(request, call).catch((error: unknown) => {
      throw asExplorerError(error);
    });
    if (found.runs.length <= EXPLORER_RUNS_MAX && found.nextCursor === "") return found.runs.map(({ run }) => run!.id);
    throw new AppError(
      "object_explorer_invalid",
      `q finds more than ${EXPLORER_RUNS_MAX} runs; make it narrower or leave it out`,
      { field: "q" },
    );
  };
}

/** Clients of this list know one code for every fault of the query. */
function asExplorerError(error: unknown): unknown {
  if (!isAppError(error) || !error.reason.startsWith("run_search_")) return error;
  const { message, position } = error;
  return new AppError("object_explorer_invalid", message, {
    field: "q",
    ...(position === undefined ? {} : { position }),
  });
}
