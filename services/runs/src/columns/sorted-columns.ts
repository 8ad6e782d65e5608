import { setTimeout as rest } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Db } from "@tidemark/pg";
import { seeDeleted } from "../deletion/hidden-rows.sql.ts";
import { type RunOrder, metricOrderOf } from "../list/run-list.rules.ts";
import { askColumn, askSortKey, fillColumn, forgetColumns, listColumnsToFill } from "./kept-columns.sql.ts";

/** Keeps the values of columns that tables of large organizations are sorted by. */
export type ColumnKeeper = {
  /** Notes that a table was sorted. Never waits and never fails. Does nothing for orders by anything but a document column. */
  readonly ask: (orgId: string, order: RunOrder) => void;
  /** Makes the columns ready that any process asked for, and forgets the columns that no process asks for. */
  readonly round: () => Promise<void>;
  /** Ends after the current step. */
  readonly stop: () => void;
};

/** A table that is refreshed every few seconds needs no statement each time. */
const ASK_EVERY_MS = 10_000;
const ASKS_MAX = 10_000;
/** A step takes some tens of milliseconds. */
const STEP_RUNS = 1000;
/** Transactions that do not know of a column yet mostly end within this time; otherwise a later round continues. */
const PATIENCE_MS = 2000;

/** Creates a keeper. `begin` starts a round. */
export function createColumnKeeper(options: {
  readonly db: Db;
  readonly begin: () => void;
  readonly onFailed: (error: unknown) => void;
}): ColumnKeeper {
  const { db, begin, onFailed } = options;
  const asked = new LRUCache<string, true>({ max: ASKS_MAX, ttl: ASK_EVERY_MS });
  let isStopped = false;

  const fill = async (orgId: string, id: string): Promise<void> => {
    const until = performance.now() + PATIENCE_MS;
    while (!isStopped) {
      const began = performance.now();
      const step = await db.withTenant(orgId, async (tx) => {
        await seeDeleted(tx);
        return fillColumn(tx, orgId, id, STEP_RUNS);
      });
      if (step === "done" || (step === "waiting" && performance.now() > until)) return;
      // Leaves half of a PostgreSQL core to others.
      await rest(step === "waiting" ? 20 : performance.now() - began);
    }
  };

  return {
    ask(orgId, order) {
      if (order.sort !== "column" || order.column.kind === "metrics") return;
      const { column } = order;
      const name = `${orgId}/${column.kind}/${column.path}`;
      if (asked.has(name)) return;
      asked.set(name, true);
      db.withTenant(orgId, (tx) => askColumn(tx, orgId, column)).then((isNew) => isNew && begin(), onFailed);
    },
    async round() {
      await forgetColumns(db);
      for (const { orgId, id } of await listColumnsToFill(db)) if (!isStopped) await fill(orgId, id);
    },
    stop() {
      isStopped = true;
    },
  };
}

/** Notes which metrics lists are sorted by, so that writes keep their values exact for every run. */
export type SortKeyAsks = {
  /**
   * Notes that a list of the organization was sorted. Never waits and never fails. Does nothing for orders without a metric, and for searches `q`,
   * which look up the values of the runs that they find.
   */
  readonly ask: (orgId: string, q: string | undefined, order: RunOrder) => void;
};

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
      db.transaction((tx) => askSortKey(tx, orgId, key, by)).catch(onFailed);
    },
  };
}
