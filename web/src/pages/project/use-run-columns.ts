import { useEffect, useRef, useState } from "preact/hooks";
import { cachedGet } from "../../api/kept.ts";
import { runsPath, type RunsPage, type TableRun } from "./run-row.ts";

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
  const [found, setFound] = useState<{ readonly name: string; readonly page: RunsPage } | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [attempt, setAttempt] = useState(0);
  const readAt = useRef(-Infinity);
  const name = runsPath({ project, q, sortBy: "created", dir: "desc", columns }, 0, RUNS_DRAWN_MAX);
  useEffect(() => {
    if (!isReady) return undefined;
    const ending = new AbortController();
    readAt.current = performance.now();
    cachedGet<RunsPage>(name, { signal: ending.signal }).then(
      (page) => {
        setFound({ name, page });
        setError(undefined);
      },
      (fault: unknown) => {
        if (!ending.signal.aborted) setError(fault);
      },
    );
    return () => ending.abort();
  }, [name, attempt, isReady]);
  useEffect(() => {
    if (version === 0) return undefined;
    const rest = readAt.current + AGAIN_MS - performance.now();
    const timer = setTimeout(() => setAttempt((count) => count + 1), Math.max(0, rest));
    return () => clearTimeout(timer);
  }, [version]);
  // Values of other columns would be drawn in the wrong place.
  const page = found?.name === name ? found.page : undefined;
  return { runs: page?.runs, total: page?.total ?? 0, error, retry: () => setAttempt((count) => count + 1) };
}
