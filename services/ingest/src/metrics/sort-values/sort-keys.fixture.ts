import { expect } from "@jest/globals";
import { type Db, type Tx } from "@tidemark/pg";
import { testSql, until } from "@tidemark/testkit";
import type { IngestFixture, Tenant } from "../../ingest.fixture.ts";
import { fillSortKeys, type SortKeyFillerOptions } from "./sort-key-filler.ts";

/** A sort key by name. */
export type NamedSortKey = readonly [key: string, by: "best" | "latest"];

/** The operations on sort keys of the runs service and of the filler of a process. */
export type SortKeysFixture = {
  readonly runsDb: Db;
  readonly workerDb: Db;
  /** A list is sorted by a key. */
  ask(tenant: Tenant, ...keys: NamedSortKey[]): Promise<void>;
  /** Does a round of a filler. Returns how many sort keys became ready. */
  round(options?: Partial<SortKeyFillerOptions>): Promise<number>;
  /** Does rounds until all sort keys are ready: a transaction of any database of the server may keep them waiting. Returns how many became ready. */
  fill(): Promise<number>;
  /** Ends all claims. */
  unclaim(): Promise<void>;
  /** The ready sort keys, in their order. */
  ready(tenant: Tenant): Promise<NamedSortKey[]>;
  /** Compares the walk along each ready key with the key aggregates of all runs, in one snapshot. Returns the ready keys. */
  expectExact(tenant: Tenant): Promise<NamedSortKey[]>;
};

const askKey = testSql("SELECT ingest.ask_sort_key_v1($1, $2, $3)");
const readyKeys = testSql("SELECT key, by FROM ingest.sort_keys_v1 WHERE org_id = $1 ORDER BY key, by");
const walked = testSql(`SELECT v.run_id AS "runId", w.value, v.sort_created_at AS created FROM ingest.sort_values_v1 v
   CROSS JOIN LATERAL (SELECT CASE WHEN $3 = 'best' THEN v.sort_best ELSE v.sort_latest END AS value) w
   WHERE v.org_id = $1 AND v.key = $2 ORDER BY v.run_id`);
const computed =
  testSql(`SELECT a.run_id AS "runId", CASE WHEN $3 = 'latest' THEN a.latest WHEN k.minimise THEN -a.best ELSE a.best END AS value,
          r.created_at AS created
   FROM ingest.metric_aggregates_v1 a
   JOIN ingest.metric_keys_v1 k ON k.org_id = a.org_id AND k.run_id = a.run_id AND k.key = a.key
   JOIN runs.runs r ON r.org_id = a.org_id AND r.id = a.run_id
   WHERE a.org_id = $1 AND a.key = $2 ORDER BY a.run_id`);
const countLeft = testSql("SELECT count(*) AS left FROM ingest.sort_keys WHERE NOT ready");
const endClaims = testSql("UPDATE ingest.sort_keys SET claimed_until = '-infinity'");
type Value = { readonly runId: string; readonly value: number; readonly created: string };

/** Creates the fixture on top of the fixture of the service. */
export function sortKeysOf(ingest: IngestFixture): SortKeysFixture {
  const runsDb = ingest.poolOf("tidemark_runs");
  const workerDb = ingest.poolOf("tidemark_ingest_worker");
  const round: SortKeysFixture["round"] = (options) =>
    fillSortKeys({ db: ingest.db, workerDb, log: { info: () => {} }, ...options });
  const unclaim = async (): Promise<void> => void (await ingest.owner.rows(endClaims, []));
  const read = async (tx: Tx, { orgId }: Tenant): Promise<NamedSortKey[]> =>
    (await tx.rows<{ key: string; by: "best" | "latest" }>(readyKeys, [orgId])).map(
      ({ key, by }) => [key, by] as const,
    );
  return {
    runsDb,
    workerDb,
    async ask({ orgId }, ...keys) {
      for (const [key, by] of keys) await runsDb.rows(askKey, [orgId, key, by]);
    },
    round,
    unclaim,
    fill: async () => {
      let ready = 0;
      await until("all sort keys to be ready", async () => {
        ready += await round();
        const { left } = (await ingest.owner.one<{ left: number }>(countLeft, []))!;
        if (left > 0) await unclaim();
        return left === 0;
      });
      return ready;
    },
    ready: (tenant) => runsDb.readTenant(tenant.orgId, (tx) => read(tx, tenant)),
    expectExact: (tenant) =>
      runsDb.readTenant(tenant.orgId, async (tx) => {
        const keys = await read(tx, tenant);
        for (const [key, by] of keys) {
          const values = [tenant.orgId, key, by];
          const plain = (rows: Value[]) => rows.map((row) => ({ ...row, value: row.value + 0 }));
          const expected = plain(await tx.rows<Value>(computed, values));
          expect({ key, by, walk: plain(await tx.rows<Value>(walked, values)) }).toEqual({ key, by, walk: expected });
        }
        return keys;
      }),
  };
}
