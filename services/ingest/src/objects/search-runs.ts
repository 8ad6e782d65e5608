import { AppError, isAppError } from "@tidemark/errors";
import { EXPLORER_RUNS_MAX } from "@tidemark/limits";
import type { RunsService } from "@tidemark/proto/runs/v1/runs";
import type { Client } from "@tidemark/rpc";
import type { FindRunsOfSearch } from "./explore-objects.ts";

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
