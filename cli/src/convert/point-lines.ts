import { encodeLine, LINE_LENGTHS_MAX } from "@tidemark/archive";
import type { LinesItem, PointsItem } from "@tidemark/import-formats";
import type { Warnings } from "../terminal/warnings.ts";
import { cut, keyOf, MESSAGE_BYTES_MAX, microsOf, storable } from "./texts.ts";

/** Most characters of the messages of a line of an archive. */
const MESSAGES_CHARACTERS_MAX = 256 * 1024;

/** Points that can be stored: whose key and steps the service takes, in columns; times in microseconds. */
export type StorablePoints = {
  readonly key: string;
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** NaN where none is known. */
  readonly times: Float64Array;
};

/** Returns the points of an item that can be stored; the rest is counted. */
export function storablePoints(item: PointsItem, warnings: Warnings): StorablePoints | undefined {
  const key = keyOf(item.key);
  if (key === undefined) {
    warnings.add("points of keys that are empty or too long", item.key.slice(0, 100), item.steps.length);
    return undefined;
  }
  const times = item.times?.map(microsOf) ?? new Float64Array(item.steps.length).fill(Number.NaN);
  const unknown = item.times?.reduce(
    (sum, time, i) => (Number.isNaN(times[i]!) && !Number.isNaN(time) ? sum + 1 : sum),
    0,
  );
  warnings.add("times outside of the years 1970 to 9999", key, unknown ?? 0);
  if (item.steps.every((step) => step >= 0)) return { key, steps: item.steps, values: item.values, times };
  const keep = (_value: number, i: number): boolean => item.steps[i]! >= 0;
  const steps = item.steps.filter(keep);
  warnings.add("points with steps below 0", key, item.steps.length - steps.length);
  return steps.length === 0 ? undefined : { key, steps, values: item.values.filter(keep), times: times.filter(keep) };
}

/** Writes points as lines of an archive. What has no time was created at `created`, in microseconds. */
export function pointLines(runId: string, { key, steps, values, times }: StorablePoints, created: number): string {
  const lines: string[] = [];
  for (let from = 0; from < steps.length; from += LINE_LENGTHS_MAX.points) {
    const part = (column: Float64Array): Float64Array => column.subarray(from, from + LINE_LENGTHS_MAX.points);
    const timestamp = part(times);
    const columns = {
      step: part(steps),
      value: part(values),
      timestamp: timestamp.every(Number.isNaN) ? undefined : timestamp,
      created_at: timestamp.map((time) => (Number.isNaN(time) ? created : time)),
    };
    lines.push(encodeLine({ line: "points", run_id: runId, key, columns }));
  }
  return lines.join("");
}

/** Writes console lines. The first one has the number `first`. */
export function consoleLines(
  runId: string,
  item: LinesItem,
  first: number,
  created: number,
  warnings: Warnings,
): string {
  const lines: string[] = [];
  const messages = item.lines.map(({ message }) => {
    const text = cut(storable(message), MESSAGE_BYTES_MAX);
    if (text.length < message.length) warnings.add("console lines that are cut");
    return text;
  });
  for (let from = 0, to = 0; from < messages.length; from = to) {
    let characters = 0;
    while (
      to < messages.length &&
      to - from < LINE_LENGTHS_MAX.lines &&
      (to === from || characters < MESSAGES_CHARACTERS_MAX)
    ) {
      characters += messages[to]!.length;
      to += 1;
    }
    const timestamp = Float64Array.from(item.lines.slice(from, to), ({ time }) => microsOf(time));
    const columns = {
      line_number: Float64Array.from({ length: to - from }, (_, i) => first + from + i),
      message: messages.slice(from, to),
      timestamp: timestamp.every(Number.isNaN) ? undefined : timestamp,
      created_at: timestamp.map((time) => (Number.isNaN(time) ? created : time)),
    };
    lines.push(encodeLine({ line: "lines", run_id: runId, stream: item.stream, columns }));
  }
  return lines.join("");
}
