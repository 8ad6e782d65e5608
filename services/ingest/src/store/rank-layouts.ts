import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { layoutBytes, type RankLayout } from "../domain/rank-layout.ts";

/** Remembers where the keys of requests are stored. A place never changes, so what was found once is right for good. */
export type RankLayouts = {
  get(name: string): RankLayout | undefined;
  /**
   * Runs work that finds a layout, and remembers it. All ranks of a training begin at once with the same keys: for one layout one work runs at a
   * time, and the callers that come meanwhile wait for its end and get undefined, to look again.
   */
  find<T extends { readonly layout: RankLayout | null }>(name: string, work: () => Promise<T>): Promise<T | undefined>;
};

const BYTES_MAX = 16 * 1024 * 1024;

/** A memory of at most 16 MiB, for the layouts that were asked for last. */
export function createRankLayouts(): RankLayouts {
  const layouts = new LRUCache<string, RankLayout>({
    maxSize: BYTES_MAX,
    sizeCalculation: (layout, name) => layoutBytes(layout) + name.length,
  });
  const searches = new Map<string, Promise<unknown>>();
  return {
    get: (name) => layouts.get(name),
    async find(name, work) {
      const before = searches.get(name);
      if (before !== undefined) {
        await before.catch(() => {});
        return undefined;
      }
      const search = work();
      searches.set(name, search);
      try {
        const found = await search;
        if (found.layout !== null) layouts.set(name, found.layout);
        return found;
      } finally {
        searches.delete(name);
      }
    },
  };
}

/** What tells one layout from all others: organization, run, world size and keys, which come in order. */
export function layoutName(orgId: string, runId: string, worldSize: number, keys: readonly string[]): string {
  return hash("sha256", JSON.stringify([orgId, runId, worldSize, keys]), "base64");
}
