import type { WarningCode, WarningItem } from "./items.ts";

/** Counts what a reader leaves out. */
export type Warnings = {
  /** Counts one thing, or `count`. `detail` says where; the one of the first thing is kept. */
  add(code: WarningCode, detail?: string, count?: number): void;
  /** Returns what was counted since the last call, in the order in which the reasons first occurred. */
  take(): WarningItem[];
};

/** Most characters of a detail. */
const DETAIL_CHARACTERS_MAX = 200;

/** Creates counters of data left out of a run, or of no particular run. */
export function createWarnings(run?: string): Warnings {
  const counted = new Map<WarningCode, { count: number; detail: string | undefined }>();
  return {
    add(code, detail, count = 1) {
      if (count === 0) return;
      const entry = counted.get(code);
      if (entry === undefined) counted.set(code, { count, detail: detail?.slice(0, DETAIL_CHARACTERS_MAX) });
      else entry.count += count;
    },
    take() {
      const items = Array.from(counted, ([code, { count, detail }]): WarningItem => ({
        kind: "warning",
        code,
        ...(run === undefined ? {} : { run }),
        count,
        ...(detail === undefined ? {} : { detail }),
      }));
      counted.clear();
      return items;
    },
  };
}
