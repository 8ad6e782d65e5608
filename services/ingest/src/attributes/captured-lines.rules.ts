import type { LogStream } from "../logs/log-page.rules.ts";

/** The fields that decide whether an attribute is a console line; the value is JSON. */
type Logged = { readonly path: string; readonly type: string; readonly valueJson: string };

/** The console lines among the attributes of a request. */
export type FoundLines = {
  /** For each attribute, the stream of its console line; null: it is not a console line. */
  readonly streams: readonly (LogStream | null)[];
  /** For each stream, the number of lines and their approximate total bytes. */
  readonly sizes: Readonly<Record<LogStream, { readonly lines: number; readonly bytes: number }>>;
};

/**
 * Finds the console lines that the SDK captured: texts of type `string_series` at `console/stdout` and `console/stderr`. Returns undefined
 * if there is none, as in nearly all requests.
 */
export function findCapturedLines(rows: readonly Logged[]): FoundLines | undefined {
  const sizes = { stdout: { lines: 0, bytes: 0 }, stderr: { lines: 0, bytes: 0 } };
  const streams = rows.map((row) => {
    const stream = streamOf(row);
    if (stream === null) return null;
    sizes[stream].lines += 1;
    sizes[stream].bytes += row.valueJson.length;
    return stream;
  });
  return sizes.stdout.lines + sizes.stderr.lines === 0 ? undefined : { streams, sizes };
}

function streamOf({ path, type, valueJson }: Logged): LogStream | null {
  if (type !== "string_series" || !valueJson.startsWith('"')) return null;
  return path === "console/stdout" ? "stdout" : path === "console/stderr" ? "stderr" : null;
}
