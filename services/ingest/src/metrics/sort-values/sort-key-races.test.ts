import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { isAppError } from "@tidemark/errors";

import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";
import { sortKeysOf, type NamedSortKey, type SortKeysFixture } from "./sort-keys.fixture.ts";
import { claimSortKey, deleteOldSortKeys, fillSortKey } from "./sort-values.sql.ts";
import { indexQuietRuns } from "./sort-value-indexer.ts";

// Processes write, ask, fill, index and delete sort keys at the same time, and every snapshot in which a sort key is ready shows the values of its
// moment, of all runs.

let ingest: IngestFixture;
let sortKeys: SortKeysFixture;
let tenant: Tenant;
beforeAll(async () => {
  ingest = await startIngest();
  sortKeys = sortKeysOf(ingest);
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

const ROUNDS = 60;
const KEYS: readonly NamedSortKey[] = [
  ["loss", "best"],
  ["loss", "latest"],
  ["score", "best"],
  ["score", "latest"],
  ["late", "latest"],
];

const makeQuiet = testSql(
  "UPDATE ingest.unindexed_runs SET touched_minute = touched_minute - 5 WHERE org_id = $1 AND run_id = ANY ($2::uuid[])",
);
const makeOld = testSql(
  "UPDATE ingest.sort_keys SET asked_at = now() - interval '8 days' WHERE org_id = $1 AND key = $2 AND by = $3",
);
const indexedRuns = testSql(`SELECT count(*) AS n FROM ingest.metric_runs r WHERE org_id = $1
     AND NOT EXISTS (SELECT FROM ingest.unindexed_runs u WHERE u.org_id = r.org_id AND u.run_id = r.run_id)`);

test("a reader never sees another value than the one that it would calculate", async () => {
  // The first two remember their runs, each with connections of its own. The third remembers nothing: the runs that it alone writes can be made
  // quiet although they were written in this minute.
  const writers = [
    ingest.writer(undefined, { db: ingest.poolOf("tidemark_ingest") }),
    ingest.writer(undefined, { db: ingest.poolOf("tidemark_ingest"), cacheBytes: 8192 }),
    ingest.writer(undefined, { db: ingest.poolOf("tidemark_ingest"), cacheBytes: 1 }),
  ];
  const shared = await Promise.all(Array.from({ length: 6 }, () => ingest.newRun(tenant)));
  const resting = await Promise.all(Array.from({ length: 3 }, () => ingest.newRun(tenant)));
  let isWriting = true;

  const write = async (w: number, round: number, i: number): Promise<void> => {
    const runId = w === 2 ? resting[i]! : shared[(i + round) % 6]!;
    const value = ((round * 7919 + i * 104_729 + w * 31) % 1000) - 500;
    const metrics = {
      loss: value,
      ...(i % 2 === 0 ? { score: -value } : {}),
      ...(round > ROUNDS / 2 ? { late: value } : {}),
      [`own${(round + i) % 40}`]: 1,
    };
    const request = { runId, columns: columnsOf([round % 20, metrics]), idempotencyKey: `${w}-${round}-${i}` };
    // Some are sent again, to another process.
    const to = i % 3 === 0 ? [writers[w]!, writers[(w + 1) % 2]!] : [writers[w]!];
    const answers = await Promise.allSettled(to.map((writer) => writer.appendMetrics(request, callOf(tenant))));
    for (const answer of answers) {
      if (
        answer.status === "rejected" &&
        !(isAppError(answer.reason) && answer.reason.reason === "idempotency_in_progress")
      )
        throw answer.reason;
    }
  };
  let [checked, deleted, ready] = [0, 0, 0];
  const isEnough = (): boolean => checked > 50 && deleted > 1 && ready > KEYS.length;
  const writing = writers.map(async (_writer, w) => {
    // On a busy machine the other processes need longer.
    for (let round = 0; round < ROUNDS || !isEnough(); round++) {
      await Promise.all(Array.from({ length: w === 2 ? 3 : 5 }, (_, i) => write(w, round, i)));
    }
  });

  /** Repeats until all is written. Returns how often. */
  const meanwhile = async (work: (n: number) => Promise<unknown>): Promise<number> => {
    let n = 0;
    for (; isWriting; n++) await work(n);
    return n;
  };
  const others = [
    meanwhile((n) => sortKeys.ask(tenant, KEYS[n % KEYS.length]!)),
    meanwhile(async () => void (ready += await sortKeys.round({ pauseFor: () => Promise.resolve() }))),
    // A process that dies after its first step.
    meanwhile(async () => {
      const sortKey = await claimSortKey(sortKeys.workerDb, 60);
      if (sortKey !== undefined) await fillSortKey(ingest.db, sortKey, { runsMax: 3, leaseSeconds: 60 });
      await sortKeys.unclaim();
    }),
    meanwhile(async (n) => {
      await ingest.owner.rows(makeQuiet, [tenant.orgId, [resting[n % 3]!]]);
      await indexQuietRuns({ db: ingest.db, workerDb: sortKeys.workerDb, pauseFor: () => Promise.resolve() });
    }),
    meanwhile(async (n) => {
      // It is requested again soon.
      const all = await sortKeys.ready(tenant);
      if (all.length < KEYS.length) return;
      await ingest.owner.rows(makeOld, [tenant.orgId, ...all[n % all.length]!]);
      deleted += await deleteOldSortKeys(sortKeys.workerDb, 7);
    }),
  ];
  const reading = [0, 1].map(() =>
    meanwhile(async () => void (checked += (await sortKeys.expectExact(tenant)).length)),
  );

  await Promise.all(writing).finally(() => {
    isWriting = false;
  });
  await Promise.all([...others, ...reading]);
  expect(isEnough()).toBe(true);

  await sortKeys.ask(tenant, ...KEYS);
  await sortKeys.unclaim();
  await sortKeys.fill();
  expect(await sortKeys.expectExact(tenant)).toEqual(KEYS.toSorted((a, b) => (a.join() < b.join() ? -1 : 1)));
  await ingest.owner.rows(makeQuiet, [tenant.orgId, resting]);
  await indexQuietRuns({ db: ingest.db, workerDb: sortKeys.workerDb });
  expect((await ingest.owner.one<{ n: number }>(indexedRuns, [tenant.orgId]))!.n).toBe(resting.length);
  await sortKeys.expectExact(tenant);
});
