import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Db } from "@tidemark/pg";
import { startIngest, type IngestFixture } from "../ingest.fixture.ts";
import { claimCompactionWork, releaseCompactionWork, type WorkItem } from "./compaction-work.sql.ts";
import { startCompaction, type Compaction, type CompactionKind, type VisitResult } from "./work-loop.ts";

let ingest: IngestFixture;
let worker: Db;
let kindName: string;

beforeAll(async () => {
  ingest = await startIngest();
  worker = ingest.poolOf("tidemark_ingest_worker");
});
afterAll(() => ingest.close());
beforeEach(() => {
  // Each test has its own kind, so that no test sees the work of another.
  kindName = randomUUID();
});

const insertMarker = testSql(`INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
   VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`);
const insertWork = testSql(`INSERT INTO ingest.compaction_work (org_id, kind, run_id, part, due_at, marked_at)
   VALUES ($1, $2, $3, $4, now(), now())`);
const listWork = testSql(`SELECT part, failures, fence IS NOT NULL AS claimed, claimed_until = '-infinity' AS free,
          extract(epoch FROM due_at - now())::float8 AS "dueIn"
   FROM ingest.compaction_work WHERE kind = $1 ORDER BY part`);
const ageMarkers = testSql(
  "UPDATE ingest.compaction_work SET marked_at = marked_at - interval '16 minutes', due_at = now() WHERE kind = $1",
);
const makeDue = testSql("UPDATE ingest.compaction_work SET due_at = now() WHERE kind = $1");
const countMarkers = testSql("SELECT count(*) AS markers FROM ingest.dirty_markers WHERE kind = $1");

const orgId = randomUUID();
let ids = 0;
const marker = (part: string, dueSeconds = 0, runId = randomUUID()) =>
  ingest.owner.rows(insertMarker, [orgId, kindName, runId, part, (ids += 1), dueSeconds]);
type WorkRow = { part: string; failures: number; claimed: boolean; free: boolean; dueIn: number };
const work = () => ingest.owner.rows<WorkRow>(listWork, [kindName]);

const nothing: VisitResult = { nextSeconds: 60, isQuiet: false, rows: 0, blocks: 0 };

/** A compactor of this test's kind that works only when a round is called. */
function compactorOf(visit: CompactionKind["visit"], watch: { warned?: string[]; lag?: number[] } = {}): Compaction {
  return startCompaction({
    db: worker,
    kinds: [{ name: kindName, visit, countWaiting: () => Promise.resolve(7) }],
    metrics: {
      compactionVisit: () => {},
      compactionBacklog: ({ lagSeconds, rowsWaiting }) => watch.lag?.push(lagSeconds, rowsWaiting),
    },
    log: { warn: (text) => void watch.warned?.push(text) },
    tickMs: 3_600_000,
  });
}

describe("a round", () => {
  test("takes all markers, visits each thing that is due once, and leaves the others", async () => {
    const runId = randomUUID();
    await marker("a", 0, runId);
    await marker("a", 30, runId);
    await marker("b");
    await marker("c", 60);
    const visited: string[] = [];
    const compaction = compactorOf((item) => {
      visited.push(item.part);
      return Promise.resolve(nothing);
    });
    await compaction.round();
    await compaction.round();
    expect(visited.sort()).toEqual(["a", "b"]);
    expect(await ingest.owner.one(countMarkers, [kindName])).toEqual({ markers: 0 });
    expect((await work()).map(({ part, dueIn }) => [part, Math.round(dueIn / 10)])).toEqual([
      ["a", 6],
      ["b", 6],
      ["c", 6],
    ]);
    await compaction.stop();
  });

  test("visits more than it claims together", async () => {
    for (let i = 0; i < 11; i++) await marker(`p${i}`);
    const visited = new Set<string>();
    const compaction = compactorOf(({ part }) => {
      visited.add(part);
      return Promise.resolve(nothing);
    });
    await compaction.round();
    expect(visited.size).toBe(11);
    await compaction.stop();
  });

  test("visits immediately again what says that it is not done", async () => {
    await marker("a");
    let visits = 0;
    const compaction = compactorOf(() => {
      visits += 1;
      return Promise.resolve({ ...nothing, nextSeconds: visits < 4 ? 0 : 60 });
    });
    await compaction.round();
    expect(visits).toBe(4);
    await compaction.stop();
  });

  test("lets the kinds take turns, so that much of one does not keep another waiting", async () => {
    const [first, second] = [kindName, randomUUID()];
    const visited: string[] = [];
    for (const kind of [first, second]) {
      kindName = kind;
      for (let i = 0; i < 9; i++) await marker(`p${i}`);
    }
    const compaction = startCompaction({
      db: worker,
      kinds: [first, second].map((name) => ({
        name,
        visit: () => {
          visited.push(name);
          return Promise.resolve(nothing);
        },
        countWaiting: () => Promise.resolve(0),
      })),
      metrics: { compactionVisit: () => {}, compactionBacklog: () => {} },
      log: { warn: () => {} },
      tickMs: 3_600_000,
    });
    await compaction.round();
    await compaction.stop();
    expect(visited).toHaveLength(18);
    expect(visited.indexOf(second)).toBeLessThan(5);
    expect(visited.lastIndexOf(first)).toBeGreaterThan(8);
  });

  test("takes the markers that arrive while there is always something due", async () => {
    await marker("busy");
    let isSeen = false;
    const until = Date.now() + 10_000;
    const compaction = compactorOf(async ({ part }) => {
      if (part === "late") isSeen = true;
      else if (!isSeen) await new Promise(setImmediate);
      return { ...nothing, nextSeconds: part === "busy" && !isSeen && Date.now() < until ? 0 : 60 };
    });
    const round = compaction.round();
    await marker("late");
    await round;
    expect(isSeen).toBe(true);
    await compaction.stop();
  });

  test("that meets a failure logs it, continues, and retries later and later", async () => {
    await marker("bad");
    await marker("good");
    const watch = { warned: [] as string[] };
    const visited: string[] = [];
    const compaction = compactorOf(({ part }) => {
      visited.push(part);
      return part === "bad" ? Promise.reject(new Error("no")) : Promise.resolve(nothing);
    }, watch);
    await compaction.round();
    expect(visited.sort()).toEqual(["bad", "good"]);
    expect(watch.warned).toEqual(["compaction failed; it is tried again"]);
    expect((await work())[0]).toMatchObject({ part: "bad", failures: 1, free: true });
    for (const seconds of [4, 8, 16]) {
      await ingest.owner.rows(makeDue, [kindName]);
      await compaction.round();
      expect(Math.abs((await work())[0]!.dueIn - seconds)).toBeLessThan(2);
    }
    await compaction.stop();
  });

  test("returns for how long the oldest work has been due, and how much waits", async () => {
    await marker("a", -100);
    const watch = { lag: [] as number[] };
    const compaction = compactorOf(() => Promise.resolve(nothing), watch);
    await compaction.round();
    expect(Math.abs(watch.lag[0]! - 100)).toBeLessThan(10);
    expect(watch.lag[1]).toBe(7);
    await compaction.stop();
  });
});

describe("claimed work", () => {
  test("is claimed by one of several who ask simultaneously", async () => {
    for (let i = 0; i < 6; i++) await marker(`p${i}`);
    const visits: string[] = [];
    const visit = ({ part }: WorkItem): Promise<VisitResult> => {
      visits.push(part);
      return Promise.resolve(nothing);
    };
    const [a, b] = [compactorOf(visit), compactorOf(visit)];
    await Promise.all([a.round(), b.round()]);
    expect(visits.sort()).toEqual(["p0", "p1", "p2", "p3", "p4", "p5"]);
    await Promise.all([a.stop(), b.stop()]);
  });

  test("is due again when its claim has run out, under another fence, and the first holder can end nothing any more", async () => {
    await ingest.owner.rows(insertWork, [orgId, kindName, randomUUID(), "a"]);
    const [first] = await claimCompactionWork(worker, kindName, { count: 1, leaseSeconds: 0 });
    const [second] = await claimCompactionWork(worker, kindName, { count: 1, leaseSeconds: 60 });
    expect(second).toMatchObject({ part: "a", runId: first!.runId });
    expect(second!.fence).not.toBe(first!.fence);
    expect(await claimCompactionWork(worker, kindName, { count: 1, leaseSeconds: 60 })).toEqual([]);
    await releaseCompactionWork(worker, kindName, first!, { nextSeconds: 0, quietSeconds: 0, failures: 9 });
    expect(await work()).toMatchObject([{ free: false, failures: 0 }]);
    await releaseCompactionWork(worker, kindName, second!, { nextSeconds: 10, quietSeconds: null, failures: 0 });
    expect(await work()).toMatchObject([{ free: true }]);
  });

  test("is due when a marker that came meanwhile says, not when its holder says", async () => {
    const runId = randomUUID();
    await marker("a", 0, runId);
    const compaction = compactorOf(async () => {
      await marker("a", 5, runId);
      // Another process does this at its tick.
      const other = compactorOf(() => Promise.reject(new Error("claimed twice")));
      await other.round();
      await other.stop();
      return { ...nothing, nextSeconds: 600 };
    });
    await compaction.round();
    expect(Math.abs((await work())[0]!.dueIn - 5)).toBeLessThan(3);
    await compaction.stop();
  });
});

describe("work without anything that waits", () => {
  const quiet = () => Promise.resolve({ ...nothing, isQuiet: true });

  test("is kept while its last marker is young, because a writer may continue without markers", async () => {
    await marker("a");
    const compaction = compactorOf(quiet);
    await compaction.round();
    expect(await work()).toHaveLength(1);
    await compaction.stop();
  });

  test("is given up when no marker came for a quarter of an hour", async () => {
    await marker("a");
    const compaction = compactorOf(quiet);
    await compaction.round();
    await ingest.owner.rows(ageMarkers, [kindName]);
    await compaction.round();
    expect(await work()).toEqual([]);
    await compaction.stop();
  });

  test("is kept when a marker arrives while it is found quiet", async () => {
    const runId = randomUUID();
    await marker("a", 0, runId);
    const compaction = compactorOf(quiet);
    await compaction.round();
    await compaction.stop();
    await ingest.owner.rows(ageMarkers, [kindName]);
    const late = compactorOf(async () => {
      await marker("a", 0, runId);
      const other = compactorOf(() => Promise.reject(new Error("claimed twice")));
      await other.round();
      await other.stop();
      return { ...nothing, isQuiet: true };
    });
    await late.round();
    expect(await work()).toHaveLength(1);
    await late.stop();
  });
});

test("a stop lets the current visit end, signals it, and gives back what was claimed with it", async () => {
  for (let i = 0; i < 4; i++) await marker(`p${i}`);
  const visited: string[] = [];
  let stopped: Promise<void> | undefined;
  const compaction = compactorOf(({ part }, isStopping) => {
    visited.push(part);
    expect(isStopping()).toBe(false);
    stopped = compaction.stop();
    expect(isStopping()).toBe(true);
    return Promise.resolve({ ...nothing, nextSeconds: 0 });
  });
  await compaction.round();
  await stopped;
  expect(visited).toHaveLength(1);
  const rows = await work();
  expect(rows.every(({ free, dueIn }) => free && dueIn <= 0)).toBe(true);
  await compaction.round();
  expect(visited).toHaveLength(1);
});
