import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { sql } from "@tidemark/pg";
import { callOf, startIngest, type IngestFixture, type Tenant } from "./ingest.testing.ts";
import type { FoldBounds } from "./store/fold-rank-rows.ts";
import { startRankFolder, type RankFolder } from "./rank-folder.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  runId = await ingest.newRun(tenant);
});

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
const countRows = sql("test_count_rank_rows", "SELECT count(*) AS n FROM ingest.rank_metric_rows WHERE run_id = $1");
const listBlocks = sql(
  "test_list_rank_blocks",
  `SELECT first_step AS first, last_step AS last, entries, encode(local_ranks, 'hex') AS "localRanks", encode(sent_us, 'hex') AS "sentUs"
   FROM ingest.rank_metric_blocks WHERE run_id = $1 ORDER BY first_step`,
);
const rows = async () => (await ingest.owner.one<{ n: number }>(countRows, [runId]))!.n;
const blocks = () => ingest.owner.rows<{ first: number; last: number; entries: number }>(listBlocks, [runId]);

const failTest = (text: string): void => {
  throw new Error(text);
};
async function withFolder(bounds: Partial<FoldBounds>, work: (folder: RankFolder) => Promise<void>): Promise<void> {
  const folder = startRankFolder({
    db: ingest.db,
    log: { warn: failTest },
    periodMs: 3_600_000,
    bounds: { restSeconds: 0, entriesMin: 4, entriesMax: 8, overlapsMax: 4, ...bounds },
  });
  try {
    await work(folder);
  } finally {
    await folder.stop();
  }
}
const note = (folder: RankFolder, count: number) => {
  for (let i = 0; i < count; i++) folder.note({ orgId: tenant.orgId, runId, setId: 0 });
};

describe("rows that have come to rest", () => {
  test("become blocks of whole steps, and are read as before", async () => {
    for (let step = 0; step < 5; step++) {
      for (const rank of [2, 0, 1]) await write(step, rank, 10 * step + rank, { weight: 1 + rank });
    }
    const before = [await summary("a"), await summary("b")];
    await withFolder({}, async (folder) => {
      note(folder, 15);
      expect(await folder.round()).toBe(15);
    });
    expect(await blocks()).toMatchObject([
      { first: 0, last: 2, entries: 9 },
      { first: 3, last: 4, entries: 6 },
    ]);
    expect(await rows()).toBe(0);
    expect([await summary("a"), await summary("b")]).toEqual(before);
  });

  test("keep local rank and the client's time", async () => {
    for (const rank of [0, 1, 2, 3]) await write(0, rank, 1, rank === 3 ? { localRank: 1, timestampUs: 255 } : {});
    await withFolder({}, async (folder) => {
      note(folder, 4);
      await folder.round();
    });
    const none = "8000000000000000";
    expect(await blocks()).toMatchObject([
      { localRanks: "0000000100020001", sentUs: `${none}${none}${none}00000000000000ff` },
    ]);
  });

  test("that are few stay rows, and those written lately too", async () => {
    for (const rank of [0, 1, 2]) await write(0, rank, 1);
    await withFolder({}, async (folder) => {
      note(folder, 4);
      expect(await folder.round()).toBe(0);
    });
    await write(0, 3, 1);
    await withFolder({ restSeconds: 3600 }, async (folder) => {
      note(folder, 4);
      expect(await folder.round()).toBe(0);
    });
    expect([await rows(), await blocks()]).toEqual([4, []]);
  });

  test("of sets that were hardly written since are not looked for", async () => {
    for (const rank of [0, 1, 2, 3]) await write(0, rank, 1);
    await withFolder({}, async (folder) => {
      note(folder, 3);
      expect(await folder.round()).toBe(0);
      note(folder, 1);
      expect(await folder.round()).toBe(4);
    });
  });

  test("are given up after some rounds in vain, until the set is written again", async () => {
    for (const rank of [0, 1, 2]) await write(0, rank, 1);
    await withFolder({}, async (folder) => {
      note(folder, 8);
      for (let round = 0; round < 4; round++) expect(await folder.round()).toBe(0);
      await write(0, 3, 1);
      expect(await folder.round()).toBe(0);
      note(folder, 4);
      expect(await folder.round()).toBe(4);
    });
  });

  test("are folded once by two folders at once", async () => {
    for (let step = 0; step < 8; step++) for (const rank of [0, 1, 2, 3]) await write(step, rank, rank);
    await withFolder({}, (one) =>
      withFolder({}, async (other) => {
        note(one, 32);
        note(other, 32);
        const folded = await Promise.all([one.round(), other.round()]);
        expect(folded[0] + folded[1] + (await one.round()) + (await other.round())).toBe(32);
      }),
    );
    const { steps } = await summary();
    expect(steps).toMatchObject({ rankCounts: Array.from({ length: 8 }, () => 4) });
  });
});

describe("a write after the fold", () => {
  test("takes the place of what was folded, also when it is folded itself", async () => {
    for (let step = 0; step < 4; step++) for (const rank of [0, 1]) await write(step, rank, 1);
    await withFolder({}, async (folder) => {
      note(folder, 8);
      await folder.round();
      for (let step = 1; step < 3; step++) for (const rank of [0, 1]) await write(step, rank, 5);
      const means = [1, 5, 5, 1];
      expect((await summary()).steps).toMatchObject({ steps: [0, 1, 2, 3], means, rankCounts: [2, 2, 2, 2] });
      note(folder, 4);
      expect(await folder.round()).toBe(4);
      expect((await summary()).steps).toMatchObject({ steps: [0, 1, 2, 3], means, rankCounts: [2, 2, 2, 2] });
    });
  });
});

describe("a run that goes over the same steps again and again", () => {
  test("gets so many blocks of them at most, and then rows, of which each takes the place of the one before", async () => {
    await withFolder({ overlapsMax: 2 }, async (folder) => {
      for (let round = 1; round <= 5; round++) {
        for (const rank of [0, 1, 2, 3]) await write(7, rank, round);
        note(folder, 4);
        await folder.round();
        expect((await summary()).steps).toMatchObject({ means: [round], rankCounts: [4] });
      }
      expect([(await blocks()).length, await rows()]).toEqual([2, 4]);
      for (const rank of [0, 1, 2, 3]) await write(8, rank, 1);
      note(folder, 4);
      expect(await folder.round()).toBe(4);
      expect([(await blocks()).length, await rows()]).toEqual([3, 4]);
    });
  });
});

test("a folder that stops ends the round in hand", async () => {
  for (let step = 0; step < 8; step++) for (const rank of [0, 1, 2, 3]) await write(step, rank, rank);
  await withFolder({}, async (folder) => {
    note(folder, 32);
    const round = folder.round();
    await folder.stop();
    expect(await round).toBeLessThan(32);
    expect(await folder.round()).toBe(0);
  });
  expect((await summary()).steps!.rankCounts).toHaveLength(8);
});

test("writes and folds at once lose nothing", async () => {
  const steps = Array.from({ length: 40 }, (_, step) => step);
  await withFolder({ entriesMin: 1, entriesMax: 6 }, async (folder) => {
    let writing = true;
    const folding = (async () => {
      while (writing) {
        note(folder, 1);
        await folder.round();
      }
    })();
    await Promise.all(
      [0, 1, 2, 3].map(async (rank) => {
        for (const step of steps) await write(step % 20, rank, step);
      }),
    );
    writing = false;
    await folding;
  });
  expect((await blocks()).length).toBeGreaterThan(0);
  const { steps: found } = await summary();
  expect(found!.steps).toEqual(steps.slice(0, 20));
  expect(found!.rankCounts).toEqual(steps.slice(0, 20).map(() => 4));
  expect(found!.means).toEqual(steps.slice(20));
});
