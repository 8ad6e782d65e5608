import { mergeChange, type NotedChange } from "@tidemark/bus";
import type { Position } from "./publishers.rules.ts";

/** A change with where its publisher announced it. Merged with others it has the last number of each publisher. */
export type PlacedChange = {
  readonly change: NotedChange;
  readonly places: Position;
};

/** What changed lately in all projects, whether or not a client watches. */
export type RecentChanges = {
  readonly add: (project: string, change: NotedChange, publisher: string, number: number, nowMs: number) => void;
  /** Returns what known publishers announced about a project after a position, merged, in the order of arrival. */
  readonly behind: (project: string, position: Position, isKnown: (publisher: string) => boolean) => PlacedChange[];
  /** Forgets changes older than five minutes. */
  readonly forgetOld: (nowMs: number) => void;
};

/** How long changes are remembered for clients that reconnect. */
export const KEPT_MS = 5 * 60_000;
/** Memory for changes; beyond it, those unchanged for the longest are forgotten. */
const BYTES_MAX = 32 * 1024 * 1024;
/** Bytes of a change in memory, and of each of its keys in addition to its characters. */
const CHANGE_BYTES = 500;
const KEY_BYTES = 40;

type Entry = {
  readonly project: string;
  readonly change: NotedChange;
  readonly publisher: string;
  readonly number: number;
  readonly ms: number;
  readonly bytes: number;
};

/** Creates an empty memory; `forgot` is called with each change that it gives up. */
export function createRecentChanges(
  forgot: (publisher: string, number: number) => void,
  bytesMax = BYTES_MAX,
): RecentChanges {
  // One entry for each run, kind and publisher, the one that changed last at the end; and the same by project.
  const entries = new Map<string, Entry>();
  const projects = new Map<string, Map<string, Entry>>();
  let bytesTaken = 0;

  const remove = (key: string, entry: Entry): void => {
    entries.delete(key);
    bytesTaken -= entry.bytes;
    const own = projects.get(entry.project)!;
    own.delete(key);
    if (own.size === 0) projects.delete(entry.project);
  };
  const forget = (key: string, entry: Entry): void => {
    remove(key, entry);
    forgot(entry.publisher, entry.number);
  };

  return {
    add(project, change, publisher, number, nowMs) {
      const key = `${project}/${changeKey(change)}/${publisher}`;
      const before = entries.get(key);
      if (before !== undefined) remove(key, before);
      const merged = before === undefined ? change : mergeChange(before.change, change);
      const bytes = bytesOf(merged);
      const entry = { project, change: merged, publisher, number, ms: nowMs, bytes };
      entries.set(key, entry);
      bytesTaken += bytes;
      const own = projects.get(project);
      if (own === undefined) projects.set(project, new Map([[key, entry]]));
      else own.set(key, entry);
      for (const [oldest, old] of entries) {
        if (bytesTaken <= bytesMax) break;
        forget(oldest, old);
      }
    },
    behind(project, position, isKnown) {
      const found = new Map<string, PlacedChange>();
      const missing = new Set<string>();
      for (const { change, publisher, number } of projects.get(project)?.values() ?? []) {
        if (!isKnown(publisher)) continue;
        placeChange(found, change, publisher, number);
        if (number > (position.get(publisher) ?? 0)) missing.add(changeKey(change));
      }
      // With what other publishers said about the same change: an event names the keys of all, and its id covers the last publisher alone.
      return [...found].flatMap(([key, placed]) => (missing.has(key) ? [placed] : []));
    },
    forgetOld(nowMs) {
      for (const [key, entry] of entries) {
        if (nowMs - entry.ms < KEPT_MS) break;
        forget(key, entry);
      }
    },
  };
}

/** Adds a change to those of a project, or merges it with the change of the same run and kind, which moves to the end. */
export function placeChange(
  changes: Map<string, PlacedChange>,
  change: NotedChange,
  publisher: string,
  number: number,
): void {
  const key = changeKey(change);
  const before = changes.get(key);
  if (before === undefined) {
    changes.set(key, { change, places: new Map([[publisher, number]]) });
    return;
  }
  changes.delete(key);
  changes.set(key, {
    change: mergeChange(before.change, change),
    places: new Map([...before.places, [publisher, number]]),
  });
}

function changeKey({ kind, runId }: NotedChange): string {
  return `${kind}${runId}`;
}

function bytesOf({ keys = [] }: NotedChange): number {
  return keys.reduce((sum, key) => sum + key.length + KEY_BYTES, CHANGE_BYTES);
}
