import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";

import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import type { RankCompactionBounds } from "./rank-writes.sql.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  // A compactor takes all work that is due, including work left by earlier tests.
  await ingest.owner.rows(dropWork, []);
  runId = await ingest.newRun(tenant);
});

const dropWork = testSql("DELETE FROM ingest.compaction_work");

type Report = { localRank?: number; weight?: number; timestampUs?: number };
const write = (step: number, rank: number, value: number, report: Report = {}) =>
  ingest.write.appendRankMetrics(
    {
      runId,
      keys: ["a", "b"],
      values: [value, -value],
      step,
      rank,
      worldSize: 4,
      localRank: rank,
      weight: 1,
      ...report,
    },
    callOf(tenant),
  );
const summary = (key = "a") => ingest.read.summariseRankMetrics({ runId, key, limit: 1000 }, callOf(tenant));
const countRows = testSql("SELECT count(*) AS n FROM ingest.rank_metric_rows WHERE run_id = $1");
const listBlocks =
  testSql(`SELECT first_step AS first, last_step AS last, entries, encode(local_ranks, 'hex') AS "localRanks", encode(sent_us, 'hex') AS "sentUs"
   FROM ingest.rank_metric_blocks WHERE run_id = $1 ORDER BY first_step`);
const rows = async () => (await ingest.owner.one<{ n: number }>(countRows, [runId]))!.n;
const blocks = () => ingest.owner.rows<{ first: number; last: number; entries: number }>(listBlocks, [runId]);

const allBounds = (bounds: Partial<RankCompactionBounds>): RankCompactionBounds => ({
  restSeconds: 0,
  entriesMin: 4,
  entriesMax: 8,
  overlapsMax: 4,
  ...bounds,
});
/** Compacts due work with these bounds. Returns how many rows became part of a block. */
async function compact(bounds: Partial<RankCompactionBounds> = {}): Promise<number> {
  let compacted = 0;
  const compactionVisit = ({ rows: count }: { readonly rows: number }) => void (compacted += count);
  const compactor = ingest.rankCompactor(allBounds(bounds), { compactionVisit });
  await compactor.round();
  await compactor.stop();
  return compacted;
}

describe("rows that are not written any more", () => {
  test("become blocks of whole steps, and are read as before", async () => {
    for (let step = 0; step < 5; step++) {
      for (const rank of [2, 0, 1]) await write(step, rank, 10 * step + rank, { weight: 1 + rank });
    }
    const before = [await summary("a"), await summary("b")];
    expect(await compact()).toBe(15);
    expect(await blocks()).toMatchObject([
      { first: 0, last: 2, entries: 9 },
      { first: 3, last: 4, entries: 6 },
    ]);
    expect(await rows()).toBe(0);
    expect([await summary("a"), await summary("b")]).toEqual(before);
  });

  test("keep local rank and the client's time", async () => {
    for (const rank of [0, 1, 2, 3]) await write(0, rank, 1, rank === 3 ? { localRank: 1, timestampUs: 255 } : {});
    await compact();
    const none = "8000000000000000";
    expect(await blocks()).toMatchObject([
      { localRanks: "0000000100020001", sentUs: `${none}${none}${none}00000000000000ff` },
    ]);
  });

  test("that are few stay rows, and those written lately too", async () => {
    for (const rank of [0, 1, 2]) await write(0, rank, 1);
    expect(await compact()).toBe(0);
    await write(0, 3, 1);
    expect(await compact({ restSeconds: 3600 })).toBe(0);
    expect([await rows(), await blocks()]).toEqual([4, []]);
  });

  test("are compacted once by two compactors that work simultaneously", async () => {
    for (let step = 0; step < 8; step++) for (const rank of [0, 1, 2, 3]) await write(step, rank, rank);
    const compacted = await Promise.all([compact(), compact()]);
    expect(compacted[0] + compacted[1]).toBe(32);
    const { steps } = await summary();
    expect(steps).toMatchObject({ rankCounts: Array.from({ length: 8 }, () => 4) });
  });

  test("are compacted to the last however many blocks they make", async () => {
    for (let step = 0; step < 40; step++) await write(step, 0, step);
    expect(await compact({ entriesMin: 1, entriesMax: 1 })).toBe(40);
    expect([(await blocks()).length, await rows()]).toEqual([40, 0]);
  });

  test("of sets with a dirty marker are compacted, and those of other sets stay", async () => {
    const markers = new Map<string, number>();
    const rankMarkers = {
      next: (what: string) => (markers.set(what, (markers.get(what) ?? 0) + 1), what.endsWith("/1") ? 0 : null),
      forget: () => {},
    };
    const writer = ingest.writer(undefined, { rankMarkers });
    const report = { runId, step: 0, worldSize: 4, weight: 1 };
    for (const rank of [0, 1, 2, 3]) {
      for (const keys of [["a", "b"], ["c"]]) {
        await writer.appendRankMetrics(
          { ...report, rank, localRank: rank, keys, values: keys.map(() => 1) },
          callOf(tenant),
        );
      }
    }
    expect(markers).toEqual(
      new Map([
        [`${runId}/0`, 4],
        [`${runId}/1`, 4],
      ]),
    );
    expect(await compact()).toBe(4);
    expect(await rows()).toBe(4);
  });
});

describe("a write after the compaction", () => {
  test("replaces what was compacted, also when it is compacted itself", async () => {
    for (let step = 0; step < 4; step++) for (const rank of [0, 1]) await write(step, rank, 1);
    expect(await compact()).toBe(8);
    for (let step = 1; step < 3; step++) for (const rank of [0, 1]) await write(step, rank, 5);
    const means = [1, 5, 5, 1];
    expect((await summary()).steps).toMatchObject({ steps: [0, 1, 2, 3], means, rankCounts: [2, 2, 2, 2] });
    expect(await compact()).toBe(4);
    expect((await summary()).steps).toMatchObject({ steps: [0, 1, 2, 3], means, rankCounts: [2, 2, 2, 2] });
  });
});

describe("a run that repeats the same steps again and again", () => {
  test("gets a bounded number of blocks of them, and then rows, of which each replaces the one before", async () => {
    for (let round = 1; round <= 5; round++) {
      for (const rank of [0, 1, 2, 3]) await write(7, rank, round);
      await compact({ overlapsMax: 2 });
      expect((await summary()).steps).toMatchObject({ means: [round], rankCounts: [4] });
    }
    expect([(await blocks()).length, await rows()]).toEqual([2, 4]);
    for (const rank of [0, 1, 2, 3]) await write(8, rank, 1);
    expect(await compact({ overlapsMax: 2 })).toBe(4);
    expect([(await blocks()).length, await rows()]).toEqual([3, 4]);
  });
});

test("simultaneous writes and compactions lose nothing", async () => {
  const steps = Array.from({ length: 40 }, (_, step) => step);
  const compactor = ingest.rankCompactor(allBounds({ entriesMin: 1, entriesMax: 6 }));
  let writing = true;
  const folding = (async () => {
    while (writing) await compactor.round();
  })();
  await Promise.all(
    [0, 1, 2, 3].map(async (rank) => {
      for (const step of steps) await write(step % 20, rank, step);
    }),
  );
  writing = false;
  await folding;
  await compactor.stop();
  expect((await blocks()).length).toBeGreaterThan(0);
  const { steps: found } = await summary();
  expect(found!.steps).toEqual(steps.slice(0, 20));
  expect(found!.rankCounts).toEqual(steps.slice(0, 20).map(() => 4));
  expect(found!.means).toEqual(steps.slice(20));
});
