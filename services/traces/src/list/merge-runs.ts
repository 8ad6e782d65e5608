import type { TracePosition } from "./trace-rows.sql.ts";

/** Reads the next rows of a list behind a position. */
type Read<Row> = (after: TracePosition | undefined, rowsMax: number) => Promise<readonly Row[]>;

/** Rows that are read of each run in addition to its share. */
const AROUND_SHARE = 8;

/**
 * Returns how the lists of some runs, the trace that started last first, are read as one. `readOf` reads the list of a run. Of each run little more is read
 * than its share, and more of it once that is used up.
 */
export function readMerged<Row extends TracePosition>(
  runIds: readonly string[],
  readOf: (runId: string) => Read<Row>,
): Read<Row> {
  return async (after, rowsMax) => {
    const share = Math.min(rowsMax, Math.ceil(rowsMax / runIds.length) + AROUND_SHARE);
    const lists = runIds.map((id) => ({
      read: readOf(id),
      from: positionOf(id, after),
      rows: [] as Row[],
      isOver: false,
    }));
    const merged: Row[] = [];
    while (merged.length < rowsMax) {
      let first: (typeof lists)[number] | undefined;
      for (const list of lists) {
        if (list.rows.length === 0 && !list.isOver) {
          list.rows = [...(await list.read(list.from, share))];
          list.isOver = list.rows.length < share;
          list.from = list.rows.at(-1) ?? list.from;
        }
        if (list.rows.length > 0 && (first === undefined || compare(list.rows[0]!, first.rows[0]!) < 0)) first = list;
      }
      if (first === undefined) break;
      merged.push(first.rows.shift()!);
    }
    return merged;
  };
}

/** Orders as lists of several runs do: by start, by trace, by run, each falling. */
function compare(a: TracePosition, b: TracePosition): number {
  if (a.startedUs !== b.startedUs) return b.startedUs - a.startedUs;
  if (a.traceId !== b.traceId) return a.traceId < b.traceId ? 1 : -1;
  return a.runId < b.runId ? 1 : -1;
}

const LAST_ID = "f".repeat(32);

/** Returns where the list of a run continues: a trace with the id and the start of the last one follows it, if its run is behind that of the last one. */
function positionOf(runId: string, after: TracePosition | undefined): TracePosition | undefined {
  if (after === undefined || runId >= after.runId) return after;
  const { startedUs, traceId } = after;
  if (traceId === LAST_ID) return { startedUs: startedUs + 1, traceId: "0".repeat(32), runId };
  return { startedUs, traceId: (BigInt(`0x${traceId}`) + 1n).toString(16).padStart(32, "0"), runId };
}
