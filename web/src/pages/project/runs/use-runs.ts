import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { watchProject } from "../../../api/changes.ts";
import { query, takeAhead } from "../../../api/queries.ts";
import { createPages, type Loaded, type Pages } from "../../../table/pages.ts";
import { usePaced } from "../../../api/use-changes.ts";
import { useQuery } from "../../../api/use-answer.ts";
import { idsPaths, runsPath, type RunsPage, type RunsRequest, type TableRun } from "./shown-runs.ts";

/** Changes are gathered for this long, so that a busy project makes one read a second of the rows that are seen. */
const BUNDLE_MS = 1000;

/** The runs of a table, loaded where they are seen. */
export function useRuns(request: RunsRequest): { readonly pages: Pages<TableRun>; readonly version: number } {
  const [version, setVersion] = useState(0);
  const { projectId } = request;
  const name = runsPath(request, 0, 1);
  const pages = useMemo(
    () =>
      createPages<TableRun>(
        (offset, limit, signal) => readRows(runsPath(request, offset, limit), signal),
        () => setVersion((count) => count + 1),
      ),
    [name],
  );
  // Before anything is painted: rows that were requested ahead are drawn immediately.
  useLayoutEffect(() => {
    pages.load();
    return pages.end;
  }, [pages]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = watchProject(projectId, ({ kind }) => {
      if (kind === "lines" || kind === "objects") return;
      timer ??= setTimeout(
        () => {
          timer = undefined;
          pages.refresh();
        },
        kind === "points" ? BUNDLE_MS : BUNDLE_MS / 5,
      );
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [projectId, pages]);
  return { pages, version };
}

function readRows(path: string, signal: AbortSignal): Loaded<TableRun> | Promise<Loaded<TableRun>> {
  const rowsOf = ({ runs, total }: RunsPage): Loaded<TableRun> => ({ rows: runs, total });
  const arrived = takeAhead<RunsPage>(path);
  return arrived === undefined ? query<RunsPage>(path, { signal }).then(rowsOf) : rowsOf(arrived);
}

/** Reads runs by their ids, wherever they are in the table. `version` reads them again. */
export function useRunsById(
  ids: readonly string[],
  request: RunsRequest,
  version: number,
): ReadonlyMap<string, TableRun> {
  const [found, setFound] = useState<ReadonlyMap<string, TableRun>>(new Map());
  const wanted = ids.toSorted().join();
  const columns = request.columns.join();
  useEffect(() => {
    if (ids.length === 0) {
      setFound((before) => (before.size === 0 ? before : new Map()));
      return undefined;
    }
    const ending = new AbortController();
    const read = async (): Promise<void> => {
      const next = new Map<string, TableRun>();
      for (const path of idsPaths(ids, request)) {
        const { runs } = await query<RunsPage>(path, { signal: ending.signal });
        for (const run of runs) next.set(run.id, run);
      }
      setFound(next);
    };
    // The rows of the table show the error; here the runs are only missing.
    read().catch(() => undefined);
    return () => ending.abort();
  }, [wanted, columns, request.projectId, version]);
  return found;
}

/** Runs that are drawn, the newest; the API answers no more at a time. */
export const RUNS_DRAWN_MAX = 1000;

/** Changes are followed at most this often. */
const AGAIN_MS = 5000;

/** Runs with the values of columns. */
type RunColumns = {
  readonly runs: readonly TableRun[] | undefined;
  /** How many runs pass the search. */
  readonly total: number;
  readonly error: unknown;
  readonly retry: () => void;
};

/** Reads the values of columns of the newest runs that pass a search, once it `isReady`; again when `version` has changed for a while. */
export function useRunColumns(
  projectId: string,
  q: string,
  columns: readonly string[],
  version: number,
  isReady: boolean,
): RunColumns {
  const path = runsPath({ projectId, q, sortBy: "created", dir: "desc", columns }, 0, RUNS_DRAWN_MAX);
  const { data, error, reload } = useQuery<RunsPage>(isReady ? path : undefined, {
    version: usePaced(version, AGAIN_MS),
  });
  return { runs: data?.runs, total: data?.total ?? 0, error, retry: reload };
}
