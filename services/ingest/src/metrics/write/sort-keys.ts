import type { Tx } from "@tidemark/pg";
import { LRUCache } from "lru-cache";
import type { SortedBy, SortKeys } from "./run-change.rules.ts";
import { loadSortKeys } from "../sort-values/sort-values.sql.ts";

/** The sort keys that the process knows. An unknown organization counts as one that never had any. */
export type SortKeyMemory = {
  of(orgId: string): SortKeys;
  /** Loads the sort keys of an organization, after a write found out that they have changed. */
  load(tx: Tx, orgId: string): Promise<void>;
};

const NEVER_ANY: SortKeys = { version: 0, keys: new Map() };
/** Of several thousand bytes each at most. */
const ORGANIZATIONS_MAX = 10_000;

/** Creates an empty memory. */
export function createSortKeyMemory(): SortKeyMemory {
  const known = new LRUCache<string, SortKeys>({ max: ORGANIZATIONS_MAX });
  return {
    of: (orgId) => known.get(orgId) ?? NEVER_ANY,
    async load(tx, orgId) {
      const { version, keys } = await loadSortKeys(tx, orgId);
      const sorted = new Map<string, SortedBy>();
      for (const { key, by } of keys) {
        const { best, latest } = sorted.get(key) ?? { best: false, latest: false };
        sorted.set(key, { best: best || by === "best", latest: latest || by === "latest" });
      }
      known.set(orgId, { version, keys: sorted });
    },
  };
}
