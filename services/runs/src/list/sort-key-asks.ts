import { LRUCache } from "lru-cache";
import { sql, type Db } from "@tidemark/pg";
import { metricOrderOf, type RunOrder } from "./run-list.rules.ts";

/** Notes which metrics lists are sorted by, so that writes keep their values exact for every run. */
export type SortKeyAsks = {
  /**
   * Notes that a list of the organization was sorted. Never waits and never fails. Does nothing for orders without a metric, and for searches `q`,
   * which look up the values of the runs that they find.
   */
  readonly ask: (orgId: string, q: string | undefined, order: RunOrder) => void;
};

/** A list that is refreshed by a dashboard every few seconds needs no statement each time. */
const ASK_EVERY_MS = 10_000;
const ASKS_MAX = 10_000;

const askSql = sql("runs_ask_sort_key", "SELECT ingest.note_sort_v1($1, $2, $3)");

/** Creates asks with nothing in memory. */
export function createSortKeyAsks(db: Pick<Db, "transaction">, onFailed: (error: unknown) => void): SortKeyAsks {
  const asked = new LRUCache<string, true>({ max: ASKS_MAX, ttl: ASK_EVERY_MS });
  return {
    ask(orgId, q, order) {
      const metric = metricOrderOf(order);
      if (metric === undefined || (q ?? "") !== "") return;
      const { key, by } = metric;
      const name = `${orgId}/${by}/${key}`;
      if (asked.has(name)) return;
      asked.set(name, true);
      db.transaction((tx) => tx.rows(askSql, [orgId, key, by])).catch(onFailed);
    },
  };
}
