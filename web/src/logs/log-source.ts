import { useEffect, useRef, useState } from "preact/hooks";
import { plainText } from "./ansi.ts";
import { call } from "../api/client.ts";
import { exactJson } from "../api/exact-json.ts";
import {
  collapseProgress,
  emptyWindows,
  endUnread,
  grown,
  isWanting,
  windowRange,
  withWindow,
  type LogLine,
  type LogWindows,
} from "./log-windows.ts";

/** A stream of a console. */
export type LogStream = "stdout" | "stderr";

/** The source of the lines of a stream. */
export type LogSource = {
  /** Its first and last line numbers; undefined where it has no lines. */
  readonly ends: (signal: AbortSignal) => Promise<LogEnds | undefined>;
  /** The first line from a number on; undefined behind the last one. */
  readonly firstFrom: (number: number, signal: AbortSignal) => Promise<LogLine | undefined>;
  /** The lines with numbers from `from` to `to`, both included, progress bars collapsed. */
  readonly lines: (from: number, to: number, signal: AbortSignal) => Promise<readonly LogLine[]>;
  /** The lines that hold a text, from a place on; `next` is where to continue, undefined at the end. */
  readonly search: (
    text: string,
    from: string,
    signal: AbortSignal,
  ) => Promise<{ readonly lines: readonly LogLine[]; readonly next: string | undefined }>;
  /** Lines may arrive between those that are there. */
  readonly isMerged?: true;
  /** The place of a found line in a merged list. */
  readonly place?: (line: LogLine, signal: AbortSignal) => Promise<number>;
};

/** The numbers of the first and the last line; with another `key` they are other numbers, and nothing that was read counts. */
type LogEnds = { readonly first: number; readonly last: number; readonly key?: string };

type LogPage = {
  readonly lines: readonly { readonly line_number: number; readonly message: string; readonly timestamp: string }[];
  readonly next_cursor: string | null;
};

const PAGE = 1000;

/**
 * The cursor of the page that begins with a line number: base64url of `[number, id]` of the line before it in the order of (number, id). No
 * line has an id below 0.
 */
const cursorAt = (number: number): string =>
  btoa(`[${number},-1]`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Returns the lines that were logged to the console of a run. */
export function runLogs(runId: string, stream: LogStream): LogSource {
  const read = (query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<LogPage> =>
    call<LogPage>(`/api/runs/${runId}/logs?${new URLSearchParams({ stream, ...query }).toString()}`, { signal });
  return {
    async ends(signal) {
      const [start, end] = await Promise.all([read({ limit: "1" }, signal), read({ tail: "1" }, signal)]);
      const first = start.lines[0]?.line_number;
      const last = end.lines.at(-1)?.line_number;
      return first === undefined || last === undefined ? undefined : { first, last };
    },
    async firstFrom(number, signal) {
      const page = await read({ limit: "1", cursor: cursorAt(number) }, signal);
      return page.lines.map(lineOf)[0];
    },
    async lines(from, to, signal) {
      const lines: LogLine[] = [];
      let cursor: string | null = cursorAt(from);
      while (cursor !== null) {
        const page: LogPage = await read({ limit: String(Math.min(PAGE, to - from + 1)), cursor }, signal);
        for (const line of page.lines) if (line.line_number <= to) lines.push(lineOf(line));
        const isPast = page.lines.length === 0 || page.lines.at(-1)!.line_number >= to + 1;
        cursor = isPast ? null : page.next_cursor;
      }
      return collapseProgress(lines);
    },
    async search(text, from, signal) {
      const page = await read({ q: text, limit: "250", ...(from === "" ? {} : { cursor: from }) }, signal);
      return { lines: page.lines.map(lineOf), next: page.next_cursor ?? undefined };
    },
  };
}

const lineOf = (line: LogPage["lines"][number]): LogLine => ({
  number: line.line_number,
  text: line.message,
  at: line.timestamp,
});

/** Lines of a console that are kept as attributes: as many as this are read. */
const CONSOLE_MAX = 20_000;

type ConsoleRow = { readonly value: unknown; readonly logged_at: string };

/** Returns the lines that a training logged as attributes `console/stdout` and `console/stderr`, numbered in the order of their arrival. */
export function consoleAttributes(runId: string, stream: LogStream): LogSource {
  let all: Promise<readonly LogLine[]> | undefined;
  const read = async (signal: AbortSignal): Promise<readonly LogLine[]> => {
    const rows: ConsoleRow[] = [];
    for (;;) {
      const query = new URLSearchParams({
        path_prefix: `console/${stream}`,
        limit: "5000",
        offset: String(rows.length),
      });
      const page = await call<{ attributes: ConsoleRow[] }>(`/api/runs/${runId}/attributes?${query.toString()}`, {
        signal,
      });
      rows.push(...page.attributes);
      if (page.attributes.length < 5000 || rows.length >= CONSOLE_MAX) break;
    }
    return rows.map(({ value, logged_at: at }, i) => ({
      number: i + 1,
      text: typeof value === "string" ? value : exactJson(value),
      at,
    }));
  };
  const lines = (signal: AbortSignal): Promise<readonly LogLine[]> => (all ??= read(signal));
  return {
    async ends(signal) {
      all = undefined;
      const { length } = await lines(signal);
      return length === 0 ? undefined : { first: 1, last: length };
    },
    firstFrom: async (number, signal) => (await lines(signal))[number - 1],
    lines: async (from, to, signal) => collapseProgress((await lines(signal)).slice(from - 1, to)),
    async search(text, _from, signal) {
      const wanted = text.toLowerCase();
      return {
        lines: (await lines(signal)).filter((line) => plainText(line.text).toLowerCase().includes(wanted)),
        next: undefined,
      };
    },
  };
}

/** Gathers all lines of a stream as the parts of a text; `onProgress` gets the share that is done. */
export async function gatherText(
  source: LogSource,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<readonly string[]> {
  const ends = await source.ends(signal);
  if (ends === undefined) return [];
  const parts: string[] = [];
  for (let from = ends.first; from <= ends.last; from += PAGE) {
    const lines = await source.lines(from, Math.min(from + PAGE - 1, ends.last), signal);
    parts.push(lines.map(({ text }) => `${text}\n`).join(""));
    onProgress((from - ends.first) / (ends.last - ends.first + 1));
  }
  return parts;
}

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
  const key = useRef<string | undefined>(undefined);

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
        const isOther = ends?.key !== key.current;
        key.current = ends?.key;
        setWindows((before) => {
          if (ends === undefined) return before ?? emptyWindows(1, 0);
          if (before === undefined || isOther || before.last < before.first) return emptyWindows(ends.first, ends.last);
          const now = grown(before, ends.last);
          return source.isMerged === true ? endUnread(now) : now;
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
