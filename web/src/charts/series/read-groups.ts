import { call } from "../../api/client.ts";
import { exactJson } from "../../api/exact-json.ts";
import type { GroupBy } from "../state/chart-state.ts";
import { createBatcher } from "./batcher.ts";
import { middlesOf, numbersOf, type SentColumn } from "./decode.ts";
import { whileBusy } from "./read-series.ts";
import type { Smoothing, XAxis } from "./series.ts";

/** Most runs that may be grouped. */
export const GROUP_RUNS_MAX = 1000;
const KEYS_MAX = 50;
const BUCKETS_MAX = 600_000;

/** The request to the server for one chart of groups. */
export type GroupsQuery = {
  readonly key: string;
  readonly runIds: readonly string[];
  readonly by: GroupBy;
  readonly x: XAxis;
  readonly smoothing: Smoothing | undefined;
  readonly steps: readonly [number, number] | undefined;
  readonly buckets: number;
};

/** A metric over the runs of a group: statistics over the means of the runs in each bucket. */
export type GroupSeries = {
  readonly key: string;
  /** By the values that its runs share. */
  readonly name: string;
  readonly runCount: number;
  /** The steps at which the buckets begin, and where these are drawn: in the middle of what they cover of the axis. */
  readonly step: Float64Array;
  readonly x: Float64Array;
  readonly mean: Float64Array;
  readonly std: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly count: Float64Array;
};

type Answer = {
  readonly bucket_width: number;
  readonly groups: readonly {
    readonly by: Readonly<Record<string, unknown>>;
    readonly run_count: number;
    readonly series: readonly {
      readonly key: string;
      readonly columns: Readonly<Record<string, SentColumn>>;
    }[];
  }[];
};

/** Reads metrics over groups for charts. */
export const groupsLoader = createBatcher<GroupsQuery, readonly GroupSeries[]>({
  keysPerRequest: ({ runIds, buckets }) =>
    Math.min(KEYS_MAX, Math.floor(BUCKETS_MAX / (buckets * Math.max(1, runIds.length)))),
  read: async ({ runIds, by, x, smoothing, steps, buckets }, keys, signal) => {
    const body = {
      run_ids: runIds,
      keys,
      by: by.allBut ? { except: by.names } : by.names,
      stats: ["mean", "std", "min", "max", "count"],
      buckets,
      ...(x === "step" ? {} : { x }),
      ...(smoothing === undefined ? {} : { smoothing }),
      ...(steps === undefined ? {} : { start_step: Math.max(0, steps[0]), end_step: Math.max(0, steps[1]) }),
    };
    const answer = await whileBusy(signal, () => call<Answer>("/api/metrics/groups", { method: "POST", body, signal }));
    return groupsOf(answer, keys);
  },
  empty: [],
  sizeOf: (groups) => groups.reduce((sum, { step }) => sum + 7 * step.byteLength + 300, 0),
});

/** Turns an answer into the series of each key; groups without points of a key are left out there. */
export function groupsOf({ groups, bucket_width: width }: Answer, keys: readonly string[]): Map<string, GroupSeries[]> {
  const byKey = new Map<string, GroupSeries[]>(keys.map((key) => [key, []]));
  for (const { by, run_count: runCount, series } of groups) {
    const name = groupName(by);
    for (const { key, columns } of series) {
      const column = (of: string): Float64Array => numbersOf(columns[of] ?? []);
      const step = column("step");
      if (step.length === 0) continue;
      byKey.get(key)?.push({
        key,
        name,
        runCount,
        step,
        x: columns["x"] === undefined ? middlesOf(step, width, true) : middlesOf(column("x"), width, false),
        mean: column("mean"),
        std: column("std"),
        min: column("min"),
        max: column("max"),
        count: column("count"),
      });
    }
  }
  return byKey;
}

/** Returns the id of the line of a group with this name, by which it gets its color. */
export const groupId = (name: string): string => `group:${name}`;

/** Names a group by what its runs share: `lr=0.1, batch=32`. */
export function groupName(by: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(by).map(([name, value]) => {
    const short = name.replace(/^config\./, "");
    if (value === null) return `${short}: none`;
    if (Array.isArray(value)) return `${short}=${value.join("+")}`;
    return `${short}=${typeof value === "string" ? value : exactJson(value)}`;
  });
  return parts.length === 0 ? "All runs" : parts.join(", ");
}
