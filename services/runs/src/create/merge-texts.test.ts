import { testSql } from "@tidemark/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";

import { asOwner, callAs, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { createTextMerger } from "./merge-texts.ts";

describe("when texts are merged", () => {
  let merges: PromiseWithResolvers<unknown[]>[] = [];
  const newMerger = () =>
    createTextMerger({
      rows: <Row>() => {
        const merge = Promise.withResolvers<unknown[]>();
        merges.push(merge);
        return merge.promise as Promise<Row[]>;
      },
    });
  beforeEach(() => {
    merges = [];
    jest.useFakeTimers();
  });
  afterEach(() => void jest.useRealTimers());

  test("immediately when 128 runs are waiting, once for all runs created by then", async () => {
    const merger = newMerger();
    merger.created(64);
    merger.created(63);
    expect(merges).toHaveLength(0);
    merger.created(1);
    expect(merges).toHaveLength(1);
    merger.created(200);
    expect(merges).toHaveLength(1);
    merges[0]!.resolve([]);
    await jest.advanceTimersByTimeAsync(0);
    expect(merges).toHaveLength(2);
    merges[1]!.resolve([]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(merges).toHaveLength(2);
  });

  test("after five seconds when fewer are waiting", async () => {
    const merger = newMerger();
    merger.created(1);
    await jest.advanceTimersByTimeAsync(4900);
    merger.created(1);
    expect(merges).toHaveLength(0);
    await jest.advanceTimersByTimeAsync(100);
    expect(merges).toHaveLength(1);
  });

  test("again after a merge that failed", async () => {
    const merger = newMerger();
    merger.created(128);
    merges[0]!.reject(new Error("the connection was lost"));
    merger.created(1);
    await jest.advanceTimersByTimeAsync(5000);
    expect(merges).toHaveLength(2);
  });
});

describe("in the database", () => {
  let fixture: RunsFixture;
  beforeAll(async () => {
    fixture = await startRuns();
  });
  afterAll(() => fixture.close());

  const pagesNotMerged = async () =>
    (
      await asOwner<{ pages: number }>(
        fixture,
        "SELECT gin_clean_pending_list('runs.run_texts_words')::integer AS pages",
      )
    )[0]!.pages;
  const words = (n: number) => json(JSON.stringify({ words: Array.from({ length: 300 }, (_, i) => `${i * n}`) }));

  test("everything is merged, the texts are still found, and no row is left", async () => {
    const call = callAs();
    for (let n = 1; n <= 10; n++) await makeRun(fixture.client, call, { project: "p", configJson: words(n) });
    await fixture.db.rows(testSql("SELECT runs.merge_new_texts()"), []);
    expect(await pagesNotMerged()).toBe(0);
    const { runs } = await fixture.client.listRuns(
      { filter: { q: "2093" }, order: { sortBy: "created", metricKey: "" }, limit: 10 },
      call,
    );
    expect(runs.map(({ run }) => run?.name)).toEqual([expect.stringMatching(/-7$/)]);
    expect(await asOwner(fixture, "SELECT run_id FROM runs.run_texts WHERE org_id <> $1", [call.orgId])).toEqual([]);
  });
});
