import type { ChangeKind } from "@tidemark/proto/changes/v1/changes";

/** The change of a write. Keys are left out where they are more than `CHANGED_KEYS_MAX`, or the kind has none. */
export type NotedChange = {
  readonly orgId: string;
  readonly projectId: string;
  /** Empty for a change of the project itself. */
  readonly runId: string;
  readonly kind: ChangeKind;
  readonly keys?: readonly string[] | undefined;
  readonly step?: number | undefined;
  readonly line?: number | undefined;
};

/** Most keys that a change names; a change of more names none, which means any. */
export const CHANGED_KEYS_MAX = 100;

/** Returns one change that covers both, of the same run and kind: all keys, the highest step, the highest line. */
export function mergeChange(before: NotedChange, now: NotedChange): NotedChange {
  const keys = mergeKeys(before.keys, now.keys);
  const step = highest(before.step, now.step);
  const line = highest(before.line, now.line);
  if (keys === before.keys && step === before.step && line === before.line) return before;
  return { ...now, keys, step, line };
}

function highest(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.max(a, b);
}

/** Most writes of a run have the same keys as the one before, so this case must be free. */
function mergeKeys(
  before: readonly string[] | undefined,
  now: readonly string[] | undefined,
): readonly string[] | undefined {
  if (before === undefined || now === undefined) return undefined;
  if (now.every((key, i) => key === before[i])) return before;
  const all = new Set(before);
  for (const key of now) all.add(key);
  if (all.size === before.length) return before;
  return all.size > CHANGED_KEYS_MAX ? undefined : [...all];
}
