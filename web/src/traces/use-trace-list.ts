import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../api/client.ts";
import {
  tracesPath,
  withFirstPage,
  type ListedTrace,
  type TraceFilters,
  type TracePage,
  type TraceScope,
} from "./trace-list.ts";

/** Milliseconds that a user may pause while typing. */
const TYPING_MS = 150;

/** The traces of a list that are loaded. */
export type TraceList = {
  /** Undefined until the first page is there. */
  readonly traces: readonly ListedTrace[] | undefined;
  readonly hasMore: boolean;
  /** Among how many of the newest traces the highest were found; undefined for a list by start. */
  readonly sorted: number | undefined;
  readonly error: unknown;
  /** Loads the next page, unless it is being loaded. */
  readonly more: () => void;
  readonly reload: () => void;
};

type Loaded = {
  /** Of which list. */
  readonly name: string;
  readonly traces: readonly ListedTrace[];
  readonly cursor: string | null;
  readonly sorted: number | undefined;
  readonly pages: number;
};

/**
 * Reads a list of traces page by page. When `version` grows, its first page is read again; a list by a figure stays as it is once further pages are
 * shown. Nothing is read until it `isReady`.
 */
export function useTraceList(scope: TraceScope, filters: TraceFilters, version: number, isReady = true): TraceList {
  const [loaded, setLoaded] = useState<Loaded>();
  const [error, setError] = useState<unknown>();
  const ending = useRef(new AbortController());
  /** The cursor of the page that is being read. */
  const reading = useRef<string | undefined>(undefined);
  // A search for runs counts by the runs that it found.
  const name = JSON.stringify([scope, { ...filters, q: "" }]);
  const isShown = loaded?.name === name;

  const read = async (cursor: string | null): Promise<void> => {
    const { signal } = ending.current;
    if (cursor !== null) reading.current = cursor;
    try {
      const page = await call<TracePage>(tracesPath(scope, filters, cursor, Date.now()), { signal });
      setError(undefined);
      setLoaded((before) => withPage(before?.name === name ? before : undefined, { name, cursor, page }));
    } catch (fault) {
      if (!signal.aborted) setError(fault);
    }
    if (cursor !== null && reading.current === cursor) reading.current = undefined;
  };

  useEffect(() => {
    if (!isReady) return undefined;
    ending.current = new AbortController();
    const { current: own } = ending;
    const timer = setTimeout(() => void read(null), loaded === undefined ? 0 : TYPING_MS);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [name, isReady]);
  const readVersion = useRef(version);
  useEffect(() => {
    if (version === readVersion.current) return;
    readVersion.current = version;
    const isLong = loaded !== undefined && loaded.pages > 1;
    if (isShown && !(isLong && filters.sort !== "started")) void read(null);
  }, [version]);

  const cursor = isShown ? loaded.cursor : null;
  return {
    traces: loaded?.traces,
    hasMore: cursor !== null,
    sorted: loaded?.sorted,
    error,
    more: () => {
      if (cursor !== null && reading.current !== cursor && error === undefined) void read(cursor);
    },
    reload: () => {
      setError(undefined);
      void read(cursor);
    },
  };
}

/** Adds a page behind `cursor`, or puts the first one in place of what it replaces. */
function withPage(
  before: Loaded | undefined,
  { name, cursor, page }: { readonly name: string; readonly cursor: string | null; readonly page: TracePage },
): Loaded {
  const { traces, next_cursor: next, sorted_count: sorted } = page;
  const first = { name, traces, cursor: next, sorted, pages: 1 };
  if (before === undefined) return first;
  if (cursor !== null) {
    // A page that was read twice.
    if (before.cursor !== cursor) return before;
    return { ...first, traces: [...before.traces, ...traces], pages: before.pages + 1 };
  }
  return before.pages === 1 ? first : { ...before, traces: withFirstPage(before.traces, page) };
}
