import { useEffect, useRef, useState } from "preact/hooks";
import { emptyWindows, grown, isWanting, windowRange, withWindow, type LogWindows } from "./log-windows.ts";
import type { LogSource } from "./log-source.ts";

/** The loaded lines of a stream, and how to load more. */
export type Log = {
  /** Undefined while nothing is known; without lines it has no rows. */
  readonly windows: LogWindows | undefined;
  readonly error: unknown;
  /** Loads missing windows; those already requested are not requested again. */
  readonly need: (windows: readonly number[]) => void;
  readonly retry: () => void;
};

/** Reads a stream window by window; when `version` grows, it looks whether there are more lines. */
export function useLog(source: LogSource, version: number): Log {
  const [windows, setWindows] = useState<LogWindows>();
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  const loading = useRef(new Set<number>());
  const ending = useRef(new AbortController());

  useEffect(() => {
    const own = new AbortController();
    ending.current = own;
    loading.current.clear();
    setWindows(undefined);
    return () => own.abort();
  }, [source, attempt]);

  useEffect(() => {
    const own = ending.current;
    const look = async (): Promise<void> => {
      try {
        const ends = await source.ends(own.signal);
        setError(undefined);
        setWindows((before) => {
          if (ends === undefined) return before ?? emptyWindows(1, 0);
          if (before === undefined || before.last < before.first) return emptyWindows(ends.first, ends.last);
          return grown(before, ends.last);
        });
      } catch (fault) {
        if (!own.signal.aborted) setError(fault);
      }
    };
    void look();
  }, [source, version, attempt]);

  const load = async (window: number, of: LogWindows): Promise<void> => {
    const own = ending.current;
    loading.current.add(window);
    try {
      const { from, to } = windowRange(of, window);
      const lines = await source.lines(from, to, own.signal);
      if (own.signal.aborted) return;
      loading.current.delete(window);
      setWindows((now) => (now === undefined ? now : withWindow(now, window, lines, to)));
    } catch (fault) {
      if (!own.signal.aborted) setError(fault);
    } finally {
      if (ending.current === own) loading.current.delete(window);
    }
  };

  return {
    windows,
    error,
    need(wanted) {
      if (windows === undefined || error !== undefined) return;
      for (const window of wanted)
        if (isWanting(windows, window) && !loading.current.has(window)) void load(window, windows);
    },
    retry: () => {
      setError(undefined);
      setAttempt((count) => count + 1);
    },
  };
}
