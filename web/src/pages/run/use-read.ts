import { useEffect, useRef, useState } from "preact/hooks";
import { send } from "../../api/client.ts";
import { parseExact } from "./config-rows.ts";

/** The result of a read of the API so far. While it is read again, the last answer stays. */
export type Read<T> = {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
};

type State<T> = {
  readonly path: string | undefined;
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
};

/**
 * Reads a path of the API, again whenever the path or `version` changes. `undefined` reads nothing. Large integers are `bigint` with
 * `exact`, so that seeds keep their digits.
 */
export function useRead<T>(
  path: string | undefined,
  options: { readonly version?: number; readonly exact?: boolean } = {},
): Read<T> {
  const { version = 0, exact = false } = options;
  const [state, setState] = useState<State<T>>({ path: undefined, data: undefined, error: undefined, isLoading: true });
  const [attempt, setAttempt] = useState(0);
  const shown = useRef(state);
  shown.current = state;
  useEffect(() => {
    if (path === undefined) return undefined;
    const ending = new AbortController();
    const read = async (): Promise<void> => {
      const before = shown.current.path === path ? shown.current.data : undefined;
      setState({ path, data: before, error: undefined, isLoading: true });
      try {
        const response = await send(path, { signal: ending.signal });
        const data = (exact ? parseExact(await response.text()) : await response.json()) as T;
        setState({ path, data, error: undefined, isLoading: false });
      } catch (error) {
        if (!ending.signal.aborted) setState({ path, data: before, error, isLoading: false });
      }
    };
    void read();
    return () => ending.abort();
  }, [path, version, exact, attempt]);
  const isCurrent = state.path === path;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: path !== undefined && (!isCurrent || state.isLoading),
    reload: () => setAttempt((count) => count + 1),
  };
}
