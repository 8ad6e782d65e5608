import { bytesOfColumn, type LineOf } from "@tidemark/archive";
import { compareKeyBytes } from "@tidemark/codecs/metrics";
import { slicesOf } from "../commit/slices.rules.ts";
import { linesOfKinds, type LineWriter, type RestoreClients } from "./line-writer.ts";

/** The limits of a request. */
const TOGETHER = { writes: 256, values: 100_000 };

type Points = LineOf<"points">;

/** Creates the writer of points. */
export function createPointsWriter(ingest: RestoreClients["ingest"]): LineWriter {
  return async (lines, name, ids, ask) => {
    const groups = groupsOf(linesOfKinds(lines, "points"));
    const weightOf = (group: readonly Points[]): number => group.length * group[0]!.columns.step.length;
    for (const [i, slice] of slicesOf(groups, TOGETHER.writes, TOGETHER.values, weightOf).entries()) {
      const points = slice.map((group) => {
        const { step, created_at, timestamp } = group[0]!.columns;
        return {
          runId: ids.of("run", group[0]!.run_id),
          keys: group.map(({ key }) => key),
          steps: bytesOfColumn(step),
          createdUs: bytesOfColumn(created_at),
          timestampsUs: bytesOfTimestamps(timestamp),
          values: joined(group.map(({ columns }) => columns.value)),
        };
      });
      await ask((call) => ingest.restorePoints({ name: `${name}:${i}`, points }, call));
    }
    return [];
  };
}

/** Returns lines in groups of different keys with the same points, as exported, each in the order of its keys. */
function groupsOf(lines: readonly Points[]): Points[][] {
  const groups: { lines: Points[]; keys: Set<string> }[] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    if (last !== undefined && !last.keys.has(line.key) && haveSamePoints(last.lines[0]!, line)) {
      last.lines.push(line);
      last.keys.add(line.key);
    } else groups.push({ lines: [line], keys: new Set([line.key]) });
  }
  return groups.map((group) => group.lines.toSorted((a, b) => compareKeyBytes(a.key, b.key)));
}

function haveSamePoints(a: Points, b: Points): boolean {
  if (a.run_id !== b.run_id) return false;
  return (["step", "created_at", "timestamp"] as const).every((name) => areSame(a.columns[name], b.columns[name]));
}

function areSame(a: Float64Array | undefined, b: Float64Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Buffer.compare(bytesOfColumn(a), bytesOfColumn(b)) === 0;
}

function joined(columns: readonly Float64Array[]): Uint8Array {
  if (columns.length === 1) return bytesOfColumn(columns[0]!);
  const all = new Float64Array(columns.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const column of columns) {
    all.set(column, at);
    at += column.length;
  }
  return bytesOfColumn(all);
}

/** Creates the writer of values that ranks reported. */
export function createRankPointsWriter(ingest: RestoreClients["ingest"]): LineWriter {
  return async (lines, name, ids, ask) => {
    for (const [i, { run_id, key, columns }] of linesOfKinds(lines, "rank_points").entries()) {
      const request = {
        name: `${name}:${i}`,
        runId: ids.of("run", run_id),
        key,
        steps: bytesOfColumn(columns.step),
        values: bytesOfColumn(columns.value),
        ranks: bytesOfColumn(columns.rank),
        worldSizes: bytesOfColumn(columns.world_size),
        localRanks: bytesOfColumn(columns.local_rank),
        weights: bytesOfColumn(columns.weight),
        createdUs: bytesOfColumn(columns.created_at),
        timestampsUs: bytesOfTimestamps(columns.timestamp),
      };
      await ask((call) => ingest.restoreRankPoints(request, call));
    }
    return [];
  };
}

/** Returns the bytes of the times that a client sent, none if it sent no time at all. */
function bytesOfTimestamps(timestamp: Float64Array | undefined): Uint8Array {
  return timestamp === undefined ? new Uint8Array() : bytesOfColumn(timestamp);
}

/** Creates the writer of console lines. */
export function createLogLinesWriter(ingest: RestoreClients["ingest"]): LineWriter {
  return async (lines, name, ids, ask) => {
    for (const [i, { run_id, stream, columns }] of linesOfKinds(lines, "lines").entries()) {
      const request = {
        name: `${name}:${i}`,
        runId: ids.of("run", run_id),
        stream,
        lineNumbers: bytesOfColumn(columns.line_number),
        messages: [...columns.message],
        createdUs: bytesOfColumn(columns.created_at),
        timestampsUs: bytesOfTimestamps(columns.timestamp),
      };
      await ask((call) => ingest.restoreLogLines(request, call));
    }
    return [];
  };
}
