import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { fingerprint } from "@tidemark/pg";
import { testSql, until } from "@tidemark/testkit";
import {
  callOf,
  columnsOf,
  startIngest,
  type IngestFixture,
  type Tenant,
  type TestPoint,
} from "../../ingest.fixture.ts";
import { startSortKeyFiller } from "./sort-key-filler.ts";
import { sortKeysOf, type NamedSortKey, type SortKeysFixture } from "./sort-keys.fixture.ts";
import { claimSortKey, deleteOldSortKeys, fillSortKey, type AskedSortKey, indexSortValues } from "./sort-values.sql.ts";
import { indexQuietRuns } from "./sort-value-indexer.ts";

let ingest: IngestFixture;
let sortKeys: SortKeysFixture;
/** A process that remembers nothing, and so does not know that a run has a row of this minute. */
let writer: IngestFixture["write"];
let tenant: Tenant;
let runIds: string[];
beforeAll(async () => {
  ingest = await startIngest();
  sortKeys = sortKeysOf(ingest);
  writer = ingest.writer(undefined, { cacheBytes: 1 });
});
afterAll(() => ingest.close());
beforeEach(async () => {
  tenant = await ingest.newTenant();
  runIds = await Promise.all(Array.from({ length: 5 }, () => ingest.newRun(tenant)));
});

const LOSS_BEST: NamedSortKey = ["loss", "best"];
const LOSS_LATEST: NamedSortKey = ["loss", "latest"];
const SCORE_BEST: NamedSortKey = ["score", "best"];

const write = (runId: string, ...points: TestPoint[]) =>
  writer.appendMetrics({ runId, columns: columnsOf(...points) }, callOf(tenant));

const quiet = testSql(
  "UPDATE ingest.unindexed_runs SET touched_minute = touched_minute - 5 WHERE run_id = ANY ($1::uuid[])",
);
const index = async (...ids: string[]): Promise<void> => {
  await ingest.owner.rows(quiet, [ids]);
  expect(await indexQuietRuns({ db: ingest.db, workerDb: sortKeys.workerDb })).toBe(ids.length);
};

const stored = testSql(
  "SELECT sort_best AS best, sort_latest AS latest FROM ingest.metric_keys WHERE run_id = $1 AND key = $2",
);
const storedOf = (runId: string, key = "loss") => ingest.owner.one(stored, [runId, key]);

const askedAgo = testSql(
  "UPDATE ingest.sort_keys SET asked_at = now() - make_interval(mins => $3) WHERE org_id = $1 AND key = $2",
);
const version = testSql("SELECT version FROM ingest.sort_key_versions WHERE org_id = $1");
const versionOf = async () => (await ingest.owner.one<{ version: number }>(version, [tenant.orgId]))?.version;

describe("a sort key", () => {
  test("is ready after a round, with the values of all runs, and stays exact through every write", async () => {
    const [indexed, written, both] = runIds as [string, string, string];
    await write(indexed, [0, { loss: 3, score: 1 }]);
    await write(both, [0, { loss: 5 }]);
    await index(indexed, both);
    await write(both, [1, { loss: 4 }]);
    await write(written, [0, { loss: 2 }], [1, { loss: 7 }]);

    await sortKeys.ask(tenant, LOSS_BEST, LOSS_LATEST, SCORE_BEST);
    expect(await sortKeys.ready(tenant)).toEqual([]);
    expect(await sortKeys.fill()).toBe(3);
    expect(await sortKeys.expectExact(tenant)).toEqual([LOSS_BEST, LOSS_LATEST, SCORE_BEST]);
    expect(await storedOf(written)).toEqual({ best: -2, latest: 7 });

    // A run that was indexed, a new key of a run, a new run, better and worse values.
    const [, , , fresh] = runIds as [string, string, string, string];
    await Promise.all([
      write(indexed, [1, { loss: 9, score: 0.5 }]),
      write(written, [2, { score: 8, other: 1 }]),
      write(fresh, [0, { loss: 1 }], [1, { loss: 0 }], [2, { loss: 6 }]),
    ]);
    await sortKeys.expectExact(tenant);
    expect(await storedOf(fresh)).toEqual({ best: -0, latest: 6 });
    expect(await storedOf(written, "score")).toEqual({ best: 8, latest: null });
    expect(await storedOf(written, "other")).toEqual({ best: null, latest: null });
    await index(indexed, written, both, fresh);
    await sortKeys.expectExact(tenant);
    await write(both, [2, { loss: -1 }]);
    await sortKeys.expectExact(tenant);
  });

  test("costs a write nothing where the value does not change", async () => {
    const [runId] = runIds as [string];
    await sortKeys.ask(tenant, SCORE_BEST);
    await sortKeys.fill();
    await write(runId, [0, { score: 5 }]);
    const row = testSql(
      "SELECT ctid::text AS at, xmax::text FROM ingest.metric_keys WHERE run_id = $1 AND key = 'score'",
    );
    const before = await ingest.owner.one(row, [runId]);
    await write(runId, [1, { score: 4 }]);
    expect(await ingest.owner.one(row, [runId])).toEqual(before);
    await write(runId, [2, { score: 6 }]);
    expect(await ingest.owner.one(row, [runId])).not.toEqual(before);
    await sortKeys.expectExact(tenant);
  });

  test("is found out about by a process that knew the ones before", async () => {
    const writers = [ingest.writer(), ingest.writer()];
    for (const [n, name] of (["loss", "score", "other"] as const).entries()) {
      await sortKeys.ask(tenant, [name, "latest"]);
      for (const [i, process] of writers.entries()) {
        const columns = columnsOf([n, { loss: n + i, score: n - i, other: i }]);
        await process.appendMetrics({ runId: runIds[i]!, columns }, callOf(tenant));
      }
      await sortKeys.fill();
      expect(await sortKeys.expectExact(tenant)).toHaveLength(n + 1);
    }
  });

  test("is found out about by a write that had to wait for its idempotency key", async () => {
    const [runId] = runIds as [string];
    const hold = testSql("SELECT pg_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex') || $2, 0))");
    const idempotencyKey = randomUUID();
    const columns = columnsOf([0, { loss: 3 }]);
    const [held] = await ingest.owner.transaction(async (tx) => {
      await tx.rows(hold, [fingerprint([idempotencyKey]), tenant.orgId]);
      const writing = ingest.writer().appendMetrics({ runId, columns, idempotencyKey }, callOf(tenant));
      await sortKeys.ask(tenant, LOSS_BEST);
      return [writing];
    });
    expect(await held).toMatchObject({ inserted: 1, replayed: false });
    expect(await storedOf(runId)).toEqual({ best: -3, latest: null });
  });

  test("of an organization is none of another", async () => {
    const other = await ingest.newTenant();
    const theirs = await ingest.newRun(other);
    await sortKeys.ask(tenant, LOSS_BEST);
    await sortKeys.fill();
    await ingest.write.appendMetrics({ runId: theirs, columns: columnsOf([0, { loss: 1 }]) }, callOf(other));
    expect(await storedOf(theirs)).toEqual({ best: null, latest: null });
    expect(await sortKeys.ready(other)).toEqual([]);
    const all = testSql("SELECT key FROM ingest.sort_keys_v1");
    expect(await sortKeys.runsDb.readTenant(other.orgId, (tx) => tx.rows(all, []))).toEqual([]);
    const values = testSql("SELECT run_id AS id FROM ingest.sort_values_v1");
    expect(await sortKeys.runsDb.readTenant(other.orgId, (tx) => tx.rows(values, []))).toEqual([{ id: theirs }]);
  });

  test("is written only by the function", async () => {
    const change = testSql("UPDATE ingest.sort_keys SET ready = true");
    await expect(sortKeys.runsDb.withTenant(tenant.orgId, (tx) => tx.rows(change, []))).rejects.toThrow(
      /permission denied/,
    );
  });
});

describe("a write that does not know of a sort key", () => {
  test("is waited for, even if no transaction with a higher number has ended", async () => {
    const [runId] = runIds as [string];
    await write(runId, [0, { loss: 3 }]);
    const number = testSql("SELECT pg_current_xact_id()::text AS xid");
    const better = testSql(`UPDATE ingest.metric_aggregate_pages SET stats[4] = 1, stats[8] = 1 WHERE run_id = $1`);
    await ingest.owner.transaction(async (tx) => {
      await sortKeys.ask(tenant, LOSS_BEST);
      // As a writer that takes its number, and whose registry it then reads in a snapshot from before the asking.
      await tx.rows(number, []);
      for (let round = 0; round < 3; round++) {
        expect(await sortKeys.round({ pauseFor: () => Promise.resolve() })).toBe(0);
        await sortKeys.unclaim();
      }
      expect(await sortKeys.ready(tenant)).toEqual([]);
      await tx.rows(better, [runId]);
    });
    await sortKeys.unclaim();
    expect(await sortKeys.fill()).toBe(1);
    expect(await sortKeys.expectExact(tenant)).toEqual([LOSS_BEST]);
    expect(await storedOf(runId)).toMatchObject({ best: -1 });
  });

  test("is not thought to be on its way for ever after a restored dump", async () => {
    await sortKeys.ask(tenant, LOSS_BEST);
    const foreign = testSql(
      "UPDATE ingest.sort_keys SET boundary = (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1000000)::text::xid8 WHERE org_id = $1",
    );
    await ingest.owner.rows(foreign, [tenant.orgId]);
    expect(await sortKeys.fill()).toBe(1);
  });
});

describe("a filler", () => {
  const claimed = async (): Promise<AskedSortKey> => {
    const sortKey = await claimSortKey(sortKeys.workerDb, 60);
    if (sortKey === undefined) throw new Error("no sort key is due");
    return sortKey;
  };
  /** The next step that does not have to wait for other transactions of the server. */
  const step = (sortKey: AskedSortKey) =>
    until("a step", async () => {
      const outcome = await fillSortKey(ingest.db, sortKey, { runsMax: 2, leaseSeconds: 60 });
      return outcome.outcome === "waiting" ? undefined : outcome;
    });

  test("that dies continues where its last step ended, once its claim has run out", async () => {
    for (const [i, runId] of runIds.entries()) await write(runId, [0, { loss: i }]);
    await sortKeys.ask(tenant, LOSS_BEST);
    const sortKey = await claimed();
    expect(await step(sortKey)).toEqual({ outcome: "filled", runs: 2 });
    // Another process finds no work.
    expect(await sortKeys.round()).toBe(0);
    await sortKeys.unclaim();
    const again = await claimed();
    expect(again).toEqual(sortKey);
    const steps = [await step(again), await step(again), await step(again), await step(again)];
    expect(steps).toEqual([
      { outcome: "filled", runs: 2 },
      { outcome: "filled", runs: 1 },
      { outcome: "ready", runs: 0 },
      { outcome: "ended", runs: 0 },
    ]);
    expect(await sortKeys.expectExact(tenant)).toEqual([LOSS_BEST]);
  });

  test("that is stopped ends after its step, and another continues immediately", async () => {
    await write(runIds[0]!, [0, { loss: 1 }]);
    await sortKeys.ask(tenant, LOSS_BEST);
    let asked = 0;
    expect(await sortKeys.round({ isStopped: () => ++asked > 2 })).toBe(0);
    expect(await sortKeys.ready(tenant)).toEqual([]);
    expect(await claimed()).toMatchObject({ orgId: tenant.orgId });
    await sortKeys.unclaim();
    expect(await sortKeys.fill()).toBe(1);
    expect(await sortKeys.expectExact(tenant)).toEqual([LOSS_BEST]);
  });

  test("shares the sort keys with others: each becomes ready once", async () => {
    for (const runId of runIds) await write(runId, [0, { loss: 1, score: 2, other: 3 }]);
    const keys: NamedSortKey[] = [LOSS_BEST, LOSS_LATEST, ["other", "best"], ["other", "latest"], SCORE_BEST];
    await sortKeys.ask(tenant, ...keys);
    const ready = await Promise.all(Array.from({ length: 4 }, () => sortKeys.round()));
    expect((await sortKeys.fill()) + ready.reduce((sum, n) => sum + n, 0)).toBe(keys.length);
    expect(await sortKeys.expectExact(tenant)).toEqual(keys);
  });

  test("finds what is requested by itself, and deletes what is unused", async () => {
    await sortKeys.ask(tenant, LOSS_BEST, SCORE_BEST);
    await ingest.owner.rows(askedAgo, [tenant.orgId, "score", 7 * 24 * 60 + 1]);
    const warn = (text: string): void => {
      throw new Error(text);
    };
    const filler = startSortKeyFiller({ db: ingest.db, workerDb: sortKeys.workerDb, log: { info: () => {}, warn } });
    await until("the sort key to be ready", async () => (await sortKeys.ready(tenant)).length === 1);
    await filler.stop();
    expect(await sortKeys.ready(tenant)).toEqual([LOSS_BEST]);
  });
});

describe("an unused sort key", () => {
  test("is no longer maintained after a week, and exact again when it is requested again", async () => {
    const [runId, other] = runIds as [string, string];
    await write(runId, [0, { loss: 3 }]);
    await sortKeys.ask(tenant, LOSS_BEST);
    await sortKeys.fill();
    await write(runId, [0, { loss: 4 }]);
    await ingest.owner.rows(askedAgo, [tenant.orgId, "loss", 7 * 24 * 60 - 1]);
    expect(await deleteOldSortKeys(sortKeys.workerDb, 7)).toBe(0);
    expect(await sortKeys.ready(tenant)).toEqual([LOSS_BEST]);
    await ingest.owner.rows(askedAgo, [tenant.orgId, "loss", 7 * 24 * 60 + 1]);
    expect(await deleteOldSortKeys(sortKeys.workerDb, 7)).toBe(1);
    expect(await sortKeys.ready(tenant)).toEqual([]);

    await write(runId, [1, { loss: 2 }]);
    await write(other, [0, { loss: 1 }]);
    expect(await storedOf(runId)).toMatchObject({ best: -3 });
    expect(await storedOf(other)).toMatchObject({ best: null });
    await sortKeys.ask(tenant, LOSS_BEST);
    expect(await sortKeys.ready(tenant)).toEqual([]);
    await sortKeys.fill();
    expect(await sortKeys.expectExact(tenant)).toEqual([LOSS_BEST]);
  });
});

describe("asking for a sort key", () => {
  const many = (from: number, to: number): NamedSortKey[] =>
    Array.from({ length: to - from }, (_, i) => [`k${String(from + i).padStart(2, "0")}`, "best"]);
  const asked = testSql("SELECT key FROM ingest.sort_keys WHERE org_id = $1 ORDER BY key");
  const askedKeys = async () => (await ingest.owner.rows<{ key: string }>(asked, [tenant.orgId])).map(({ key }) => key);

  test("again within the hour writes nothing; later it says that it is still used", async () => {
    const row = testSql(
      "SELECT ctid::text AS at, asked_at > now() - interval '1 minute' AS now FROM ingest.sort_keys WHERE org_id = $1",
    );
    await sortKeys.ask(tenant, LOSS_BEST);
    await ingest.owner.rows(askedAgo, [tenant.orgId, "loss", 59]);
    const before = await ingest.owner.one(row, [tenant.orgId]);
    expect(before).toMatchObject({ now: false });
    await sortKeys.ask(tenant, LOSS_BEST);
    expect(await ingest.owner.one(row, [tenant.orgId])).toEqual(before);
    await ingest.owner.rows(askedAgo, [tenant.orgId, "loss", 61]);
    await sortKeys.ask(tenant, LOSS_BEST);
    expect(await ingest.owner.one(row, [tenant.orgId])).toMatchObject({ now: true });
    expect(await versionOf()).toBe(1);
  });

  test("gives an organization sixteen at most; a further one replaces the one with the oldest request", async () => {
    await sortKeys.ask(tenant, ...many(0, 17));
    expect(await askedKeys()).toEqual(many(0, 16).map(([key]) => key));
    expect(await versionOf()).toBe(16);
    // A sort key in constant use looks like this for an hour.
    await ingest.owner.rows(askedAgo, [tenant.orgId, "k03", 119]);
    await sortKeys.ask(tenant, ...many(16, 17));
    expect(await askedKeys()).toEqual(many(0, 16).map(([key]) => key));
    await ingest.owner.rows(askedAgo, [tenant.orgId, "k05", 121]);
    await ingest.owner.rows(askedAgo, [tenant.orgId, "k03", 122]);
    await sortKeys.ask(tenant, ...many(16, 17));
    expect(await askedKeys()).toEqual(many(0, 17).flatMap(([key]) => (key === "k03" ? [] : [key])));
    expect(await versionOf()).toBe(17);
    await sortKeys.fill();
    expect(await sortKeys.ready(tenant)).toHaveLength(16);
  });

  test("at the same time makes one of each, and not more than sixteen", async () => {
    await Promise.all([...many(0, 12), ...many(0, 12), ...many(12, 24)].map((key) => sortKeys.ask(tenant, key)));
    expect(await askedKeys()).toHaveLength(16);
    expect(await versionOf()).toBe(16);
  });

  test("by something else than best or latest fails", async () => {
    await expect(sortKeys.ask(tenant, ["loss", "worst" as "best"])).rejects.toThrow(/check constraint/);
  });
});

describe("a write that is not committed yet", () => {
  const lock = testSql("SELECT ingest.lock_metric_runs($1, ARRAY[$2::uuid])");
  const change = testSql(`WITH page AS (UPDATE ingest.metric_aggregate_pages SET stats[4] = 1 WHERE run_id = $1)
     UPDATE ingest.metric_keys SET sort_best = -1 WHERE run_id = $1`);
  const waiting = testSql(
    "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  const ended = testSql(
    "SELECT pg_snapshot_xmin(pg_current_snapshot()) >= boundary AS ended FROM ingest.sort_keys WHERE NOT ready",
  );
  /** Begins `work` while a write of the run is open that makes its best value 1, and commit the write once `work` waits for it. */
  const whileWriting = async (runId: string, work: () => Promise<unknown>): Promise<void> => {
    const working = await ingest.owner.transaction(async (tx) => {
      await tx.rows(lock, [tenant.orgId, runId]);
      await tx.rows(change, [runId]);
      const begun = work();
      await until("the work to wait", async () => (await ingest.owner.one<{ n: number }>(waiting, []))!.n === 1);
      return [begun];
    });
    await working[0];
  };

  test("is waited for by an indexer, which would put back the value before", async () => {
    const [runId] = runIds as [string];
    await sortKeys.ask(tenant, LOSS_BEST);
    await sortKeys.fill();
    await write(runId, [0, { loss: 3 }]);
    await whileWriting(runId, () => {
      const run = { orgId: tenant.orgId, runId, touchedMinute: 0 };
      return ingest.db.withTenant(tenant.orgId, (tx) => indexSortValues(tx, run, "", 100));
    });
    expect(await storedOf(runId)).toEqual({ best: -1, latest: 3 });
  });

  test("is waited for by a filler, which would put back the value before", async () => {
    const [runId] = runIds as [string];
    await write(runId, [0, { loss: 3 }]);
    await sortKeys.ask(tenant, LOSS_BEST);
    const sortKey = (await claimSortKey(sortKeys.workerDb, 60))!;
    await until(
      "the transactions before to end",
      async () => (await ingest.owner.one<{ ended: boolean }>(ended, []))!.ended,
    );
    await whileWriting(runId, () => fillSortKey(ingest.db, sortKey, { runsMax: 1, leaseSeconds: 60 }));
    expect(await storedOf(runId)).toEqual({ best: -1, latest: null });
    await sortKeys.unclaim();
    await sortKeys.fill();
  });
});
