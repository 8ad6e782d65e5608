import { badRequest, isAppError } from "@tidemark/errors";
import { LIST_METRIC_KEYS_MAX, RUNS_PAGE_ROWS } from "@tidemark/limits";
import { sqlState } from "@tidemark/pg";
import type { FindQuery } from "@tidemark/proto/runs/v1/find";
import { callerOf, requireLimit } from "@tidemark/requests";
import { isStorable } from "@tidemark/values/run-search";
import { mapInTurns } from "@tidemark/work";
import { seeDeleted } from "../deletion/hidden-rows.sql.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { countFittingRuns } from "../list/page-weight.sql.ts";
import { listProjectsById } from "../projects/projects.sql.ts";
import { encodeProject, encodeRunSummary } from "../read/encode-rows.ts";
import { readSummaries } from "../read/summaries.sql.ts";
import { SEARCH_MS_MAX, tooBroad } from "../search/words.rules.ts";
import { findProjectIds, findRunIds } from "./find.sql.ts";

const CONDITIONS_MAX = 200;
const ORDERS_MAX = 20;
const PROJECTS_MAX = 1000;

/** Reads a search; it asks for one row more than its page, which shows whether there is another page. @throws bad_request */
function readQuery(query: FindQuery | undefined): FindQuery {
  if (query === undefined) throw badRequest("query is required", "query");
  if (query.all.length > CONDITIONS_MAX)
    throw badRequest(`query must have at most ${CONDITIONS_MAX} conditions`, "query");
  if (query.orders.length > ORDERS_MAX) throw badRequest(`query must have at most ${ORDERS_MAX} orders`, "query");
  return { ...query, limit: requireLimit(query.limit, RUNS_PAGE_ROWS.max) + 1 };
}

const options = { plans: "by values", statementMsMax: SEARCH_MS_MAX } as const;

async function bounded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isAppError(error) && sqlState(error.cause) === "57014") throw tooBroad();
    throw error;
  }
}

/** RunsService.FindRuns: a page whose documents are too heavy ends early. @throws bad_request, run_search_too_broad */
export function findRuns({ db, staleness }: Pick<RunsDeps, "db" | "staleness">): RunsHandlers["findRuns"] {
  return async (request, call) => {
    const { orgId, projectId: own } = callerOf(call);
    const wanted = readQuery(request.query);
    const { projectNumbers, projectNames } = request;
    if (projectNumbers.length + projectNames.length > PROJECTS_MAX)
      throw badRequest(`at most ${PROJECTS_MAX} projects can be searched together`, "project_numbers");
    const numbers = projectNumbers.filter((number) => number < 2n ** 53n);
    const read = db.readTenant(
      orgId,
      async (tx) => {
        if (wanted.view !== "active") await seeDeleted(tx);
        const projects = { numbers, names: projectNames.filter(isStorable), own };
        const { found, cursorOf } = await findRunIds(tx, orgId, projects, wanted);
        const ids = found.slice(0, wanted.limit - 1).map(({ id }) => id);
        const page = found.slice(0, await countFittingRuns(tx, orgId, ids));
        const rows = await readSummaries(
          tx,
          orgId,
          page.map(({ id }) => id),
          LIST_METRIC_KEYS_MAX,
        );
        return { page, rows, more: page.length < found.length, cursorOf };
      },
      options,
    );
    const { page, rows, more, cursorOf } = await bounded(read);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const runs = await mapInTurns(page, (found) => ({
      run: encodeRunSummary(byId.get(found.id)!, staleness),
      hidden: found.hidden,
      cursor: cursorOf(found),
    }));
    return { runs, more };
  };
}

/** RunsService.FindProjects. @throws bad_request, run_search_too_broad */
export function findProjects({ db }: Pick<RunsDeps, "db">): RunsHandlers["findProjects"] {
  return (request, call) => {
    const { orgId, projectId: own } = callerOf(call);
    const wanted = readQuery(request.query);
    const read = db.readTenant(
      orgId,
      async (tx) => {
        if (wanted.view !== "active") await seeDeleted(tx);
        const { found, cursorOf } = await findProjectIds(tx, orgId, own, wanted);
        const page = found.slice(0, wanted.limit - 1);
        const rows = await listProjectsById(
          tx,
          orgId,
          page.map(({ id }) => id),
        );
        return {
          projects: rows.map(encodeProject),
          nextCursor: page.length < found.length ? cursorOf(page.at(-1)!) : "",
        };
      },
      options,
    );
    return bounded(read);
  };
}
