import { useCallback, useEffect, useState } from "preact/hooks";
import { query } from "./queries.ts";

type State<T> = {
  readonly path: string | undefined;
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
};

/** A document of the API as far as it was read. While it is read again, the last answer stays, or the last error with the data it is about. */
export type Query<T> = Omit<State<T>, "path"> & { readonly reload: () => void };

/**
 * Reads a path of the API, again whenever the path or `version` changes. `undefined` reads nothing. Large integers are `bigint` with
 * `exact`, so that seeds keep their digits.
 */
export function useQuery<T>(
  path: string | undefined,
  options: { readonly version?: number; readonly exact?: boolean } = {},
): Query<T> {
  const { version = 0, exact = false } = options;
  const [state, setState] = useState<State<T>>({ path: undefined, data: undefined, error: undefined, isLoading: true });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (path === undefined) return undefined;
    const ending = new AbortController();
    setState(({ path: before, data, error }) => {
      const hasData = before === path && data !== undefined;
      return { path, data: hasData ? data : undefined, error: hasData ? error : undefined, isLoading: true };
    });
    query<T>(path, { signal: ending.signal, exact, again: version + attempt > 0 }).then(
      (data) => !ending.signal.aborted && setState({ path, data, error: undefined, isLoading: false }),
      (error: unknown) => !ending.signal.aborted && setState(({ data }) => ({ path, data, error, isLoading: false })),
    );
    return () => ending.abort();
  }, [path, version, exact, attempt]);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  const isCurrent = state.path === path;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: path !== undefined && (!isCurrent || state.isLoading),
    reload,
  };
}
