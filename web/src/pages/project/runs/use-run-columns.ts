import { usePaced } from "../../../api/use-changes.ts";
import { useQuery } from "../../../api/use-answer.ts";
import { runsPath, type RunsPage, type TableRun } from "./shown-runs.ts";

/** Runs that are drawn, the newest; the API answers no more at a time. */
export const RUNS_DRAWN_MAX = 1000;

/** Changes are followed at most this often. */
const AGAIN_MS = 5000;

/** Runs with the values of columns. */
export type RunColumns = {
  readonly runs: readonly TableRun[] | undefined;
  /** How many runs pass the search. */
  readonly total: number;
  readonly error: unknown;
  readonly retry: () => void;
};

/** Reads the values of columns of the newest runs that pass a search, once it `isReady`; again when `version` has changed for a while. */
export function useRunColumns(
  project: string,
  q: string,
  columns: readonly string[],
  version: number,
  isReady: boolean,
): RunColumns {
  const path = runsPath({ project, q, sortBy: "created", dir: "desc", columns }, 0, RUNS_DRAWN_MAX);
  const { data, error, reload } = useQuery<RunsPage>(isReady ? path : undefined, {
    version: usePaced(version, AGAIN_MS),
  });
  return { runs: data?.runs, total: data?.total ?? 0, error, retry: reload };
}
