import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import { testSql, until } from "@tidemark/testkit";
import { asOwner, callAs, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { readAll, SCORE, summarize } from "./list-pages.fixture.ts";
import { createSortKeyAsks } from "../columns/sorted-columns.ts";
import { drawRuns, LOSS, orders, sorted, storeMeasured } from "./stored-runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const sortKeysOf = (orgId: string) =>
  asOwner<{ key: string; by: string }>(
    fixture,
    "SELECT key, by FROM ingest.sort_keys WHERE org_id = $1 ORDER BY key, by",
    [orgId],
  );

/** Makes a sort key of a metric, as the worker of ingest does. */
async function makeSortKey(orgId: string, key: string, by: string): Promise<void> {
  await asOwner(
    fixture,
    "INSERT INTO ingest.sort_keys (org_id, key, by, asked_at, boundary) VALUES ($1, $2, $3, now(), '1')",
    [orgId, key, by],
  );
  for (let outcome = ""; outcome !== "ready";) {
    const fill = "SELECT outcome FROM ingest.fill_sort_key($1, $2, $3, 10, 1)";
    const [step] = await asOwner<{ outcome: string }>(fixture, fill, [orgId, key, by]);
    outcome = step!.outcome;
    expect(["filled", "ready"]).toContain(outcome);
  }
}

describe("with sort keys, half of the runs not being indexed,", () => {
  const call = callAs();
  const runs = drawRuns(30);

  beforeAll(async () => {
    await storeMeasured(fixture, call.orgId, runs);
    for (const key of [SCORE, LOSS, "nobody/has"])
      for (const by of ["best", "latest"]) await makeSortKey(call.orgId, key, by);
  });

  test.each(orders)("lists by %s of %s are in order, and pages tile them", async (sort, metricKey) => {
    const expected = sorted(runs, sort, metricKey);
    expect((await summarize(fixture, call, { sort, metricKey, limit: 1000 })).ids).toEqual(expected);
    const pages = await readAll(fixture, call, { sort, metricKey, limit: 7 });
    expect(pages.flatMap(({ ids }) => ids)).toEqual(expected);
    const ofProject = runs.filter(({ project }) => project === "q");
    const page = await summarize(fixture, call, { sort, metricKey, limit: 1000, project: "q" });
    expect(page.ids).toEqual(sorted(ofProject, sort, metricKey));
  });
});

describe("a list by a metric", () => {
  const putUnindexed = (orgId: string, count: number) =>
    asOwner(
      fixture,
      "INSERT INTO ingest.unindexed_runs (org_id, run_id, touched_minute) SELECT $1, gen_random_uuid(), 0 FROM generate_series(1, $2::integer)",
      [orgId, count],
    );

  test("asks for a sort key where many runs are not indexed", async () => {
    const call = callAs();
    await putUnindexed(call.orgId, 50);
    const metricKey = `loss-${randomUUID()}`;
    await summarize(fixture, call, { sort: "metric-best", metricKey });
    await until("the sort key is asked for", async () =>
      (await sortKeysOf(call.orgId)).length > 0 ? true : undefined,
    );
    await fixture.client.getOverview({ filter: { q: "" }, metricKey: "overview" }, call);
    await summarize(fixture, call, { sort: "metric-latest", metricKey });
    await until("the others are, too", async () => ((await sortKeysOf(call.orgId)).length > 2 ? true : undefined));
    expect(await sortKeysOf(call.orgId)).toEqual([
      { key: metricKey, by: "best" },
      { key: metricKey, by: "latest" },
      { key: "overview", by: "best" },
    ]);
  });

  test("asks for none where fewer than 50 runs are not indexed", async () => {
    const note = testSql("SELECT ingest.note_sort_v1($1, 'loss', 'best')");
    const { orgId } = callAs();
    await putUnindexed(orgId, 49);
    await fixture.db.transaction((tx) => tx.rows(note, [orgId]));
    expect(await sortKeysOf(orgId)).toEqual([]);
    await putUnindexed(orgId, 1);
    await fixture.db.transaction((tx) => tx.rows(note, [orgId]));
    expect(await sortKeysOf(orgId)).toEqual([{ key: "loss", by: "best" }]);
  });

  test("asks once in a while, not for searches and not for other orders", () => {
    const asked: string[] = [];
    const asks = createSortKeyAsks({ transaction: async () => void asked.push("asked") as never }, () => {});
    const order = { sort: "metric-best", metricKey: "loss" } as const;
    asks.ask("a", "tag:x", order);
    asks.ask("a", undefined, { ...order, sort: "name" });
    expect(asked).toHaveLength(0);
    asks.ask("a", "", order);
    asks.ask("a", undefined, order);
    expect(asked).toHaveLength(1);
    asks.ask("a", undefined, { ...order, sort: "metric-latest" });
    asks.ask("b", undefined, order);
    expect(asked).toHaveLength(3);
  });
});
