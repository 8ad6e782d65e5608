import { LRUCache } from "lru-cache";
import { underDeadline } from "@tidemark/work";
import type { Db } from "@tidemark/pg";
import type { Key, KeyKind } from "./key.rules.ts";
import { countKeys } from "./keys.sql.ts";

/** The keys of projects, in memory while they are requested. */
export type KeyCatalogue = {
  /**
   * Returns the keys of a kind of a project by name. They match the version, or, where counting them took longer than `QUICK_MS`, may be
   * older, by at most ten times as long as the count took. Keys that could not be counted in seconds, such as those of hundreds of megabytes of configs,
   * are refused with the same error for ten times as long, so that a client that asks repeatedly takes a tenth of a connection.
   */
  readonly keysOf: (orgId: string, projectId: string, kind: KeyKind, version: string) => Promise<readonly Key[]>;
};

/** Keys that were counted this quickly are counted again for every change. */
const QUICK_MS = 250;
/** Longest that a version, which misses rare changes, is trusted. */
const TRUSTED_MS = 60_000;
/** Number of keys in memory, about 150 bytes each. */
const KEYS_HELD_MAX = 400_000;
/** A count that fails sooner is retried immediately: it may only have encountered a restarting server. */
const HOPELESS_MS = 2000;
const FAILURES_MAX = 1000;

type Failure = { readonly error: Error; readonly untilMs: number };

type Entry = {
  readonly keys: readonly Key[];
  readonly version: string;
  readonly atMs: number;
  readonly tookMs: number;
};

/** Creates an empty catalogue. `onFailed` is called when counting in the background fails. */
export function createKeyCatalogue(options: {
  readonly db: Pick<Db, "readTenant">;
  readonly nowMs: () => number;
  readonly onFailed: (error: unknown) => void;
}): KeyCatalogue {
  const { db, nowMs, onFailed } = options;
  const entries = new LRUCache<string, Entry>({
    maxSize: KEYS_HELD_MAX,
    sizeCalculation: ({ keys }) => Math.max(1, keys.length),
  });
  const failures = new LRUCache<string, Failure>({ max: FAILURES_MAX });
  const counting = new Map<string, Promise<Entry>>();

  const count = (name: string, orgId: string, projectId: string, kind: KeyKind, version: string): Promise<Entry> => {
    const running = counting.get(name);
    if (running !== undefined) return running;
    const atMs = nowMs();
    const failure = failures.get(name);
    if (failure !== undefined && atMs < failure.untilMs) return Promise.reject(failure.error);
    // Several requests may wait for it, so it belongs to none of them.
    const counted = underDeadline(undefined, () =>
      db.readTenant(orgId, (tx) => countKeys(tx, kind, { orgId, projectId })),
    )
      .then(
        (keys) => {
          const entry = { keys, version, atMs, tookMs: nowMs() - atMs };
          entries.set(name, entry);
          return entry;
        },
        (error: unknown) => {
          const [endMs, tookMs] = [nowMs(), nowMs() - atMs];
          if (tookMs > HOPELESS_MS) failures.set(name, { error: error as Error, untilMs: endMs + 10 * tookMs });
          throw error;
        },
      )
      .finally(() => counting.delete(name));
    counting.set(name, counted);
    return counted;
  };

  return {
    async keysOf(orgId, projectId, kind, version) {
      const name = `${orgId}/${projectId}/${kind}`;
      const entry = entries.get(name);
      const age = entry === undefined ? Infinity : nowMs() - entry.atMs;
      if (entry?.version === version && age < TRUSTED_MS) return entry.keys;
      if (entry === undefined || entry.tookMs <= QUICK_MS) {
        // A count in progress may have begun before the change that the caller knows of.
        for (;;) {
          const isOwn = !counting.has(name);
          const made = await count(name, orgId, projectId, kind, version);
          if (isOwn || made.version === version) return made.keys;
        }
      }
      if (age > 10 * entry.tookMs) return (await count(name, orgId, projectId, kind, version)).keys;
      if (age > 5 * entry.tookMs) count(name, orgId, projectId, kind, version).catch(onFailed);
      return entry.keys;
    },
  };
}
