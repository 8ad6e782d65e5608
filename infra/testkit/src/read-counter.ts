import { sql, type Db, type Tx } from "@tidemark/pg";

/** Blocks of 8 KiB that transactions fetched, cached or not, by table and index; and their sum. */
export type Reads = { readonly blocks: number; readonly of: Readonly<Record<string, number>> };

/** Counts the blocks that transactions read. */
export type ReadCounter = {
  /** Returns a handle whose transactions are counted. */
  readonly around: (db: Db) => Db;
  /** Runs `work` and returns what the counted transactions that it committed have read. One `work` at a time. */
  readonly readsOf: (work: () => Promise<unknown>) => Promise<Reads>;
};

const countersSql = sql(
  "test_read_counters",
  `SELECT c.oid::regclass::text AS relation, pg_stat_get_xact_blocks_fetched(c.oid) AS blocks
   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'i', 't') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'public')`,
);

async function counters(tx: Tx): Promise<Map<string, number>> {
  const rows = await tx.rows<{ relation: string; blocks: number }>(countersSql, []);
  return new Map(rows.map(({ relation, blocks }) => [relation, blocks]));
}

/** Creates a counter. Statements outside of transactions get transactions, because the server counts by transaction. */
export function createReadCounter(): ReadCounter {
  let of: Record<string, number> = {};

  const counted =
    <T>(work: (tx: Tx) => Promise<T>) =>
    async (tx: Tx): Promise<T> => {
      const before = await counters(tx);
      const result = await work(tx);
      for (const [relation, blocks] of await counters(tx)) {
        const read = blocks - (before.get(relation) ?? 0);
        if (read > 0) of[relation] = (of[relation] ?? 0) + read;
      }
      return result;
    };

  return {
    around: (db) => ({
      ...db,
      rows: (statement, values) => db.transaction(counted((tx) => tx.rows(statement, values))),
      one: (statement, values) => db.transaction(counted((tx) => tx.one(statement, values))),
      each: (statement, values, take) => db.transaction(counted((tx) => tx.each(statement, values, take))),
      count: (statement, values) => db.transaction(counted((tx) => tx.count(statement, values))),
      withTenant: (orgId, work, options) => db.withTenant(orgId, counted(work), options),
      readTenant: (orgId, work, options) => db.readTenant(orgId, counted(work), options),
      // The rows of each step are counted with the step.
      streamTenant: (orgId, work, options) =>
        db.streamTenant(
          orgId,
          async function* (tx) {
            const steps = work(tx)[Symbol.asyncIterator]();
            for (;;) {
              const step = await counted(() => steps.next())(tx);
              if (step.done === true) return;
              yield step.value;
            }
          },
          options,
        ),
      transaction: (work) => db.transaction(counted(work)),
    }),
    readsOf: async (work) => {
      of = {};
      await work();
      return { blocks: Object.values(of).reduce((sum, blocks) => sum + blocks, 0), of };
    },
  };
}
