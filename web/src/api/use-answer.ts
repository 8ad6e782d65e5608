import { useCallback, useEffect, useState } from "preact/hooks";
import { query } from "./queries.ts";

type State<T> = {
  readonly name: string | undefined;
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
};

/** What was read of the API so far. While it is read again, the last answer stays, or the last error with the data it is about. */
export type Answered<T> = Omit<State<T>, "name"> & { readonly reload: () => void };

/** A read is made `again` after a change, or because the user asked for it. */
type Reader<T> = (signal: AbortSignal, again: boolean) => Promise<T>;

/** Reads something of the API that has a name, again whenever the name or `version` changes. `undefined` reads nothing. */
export function useAnswer<T>(name: string | undefined, read: Reader<T>, version = 0): Answered<T> {
  const [state, setState] = useState<State<T>>({ name: undefined, data: undefined, error: undefined, isLoading: true });
  const [attempt, setAttempt] = useState(0);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  useEffect(() => {
    if (name === undefined) return undefined;
    const ending = new AbortController();
    const set = (change: (before: State<T>) => State<T>): void => {
      if (!ending.signal.aborted) setState(change);
    };
    set(({ name: before, data, error }) => {
      const hasData = before === name && data !== undefined;
      return { name, data: hasData ? data : undefined, error: hasData ? error : undefined, isLoading: true };
    });
    read(ending.signal, version + attempt > 0).then(
      (data) => set(() => ({ name, data, error: undefined, isLoading: false })),
      (error: unknown) => set(({ data }) => ({ name, data, error, isLoading: false })),
    );
    return () => ending.abort();
  }, [name, version, attempt]);
  const isCurrent = state.name === name;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: name !== undefined && (!isCurrent || state.isLoading),
    reload,
  };
}

/**
 * Reads a document of the API by its path, again whenever the path or `version` changes. `undefined` reads nothing.
 */
export function useQuery<T>(
  path: string | undefined,
  { version = 0 }: { readonly version?: number } = {},
): Answered<T> {
  return useAnswer(path, (signal, again) => query<T>(path!, { signal, again }), version);
}
