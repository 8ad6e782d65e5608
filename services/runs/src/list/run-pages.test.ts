import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putValues, indexSortValues } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { filterOf, readAll, SCORE, summarize, type Filter } from "./list-pages.fixture.ts";
import {
  drawRuns,
  LOSS,
  orders,
  pick,
  sorted,
  storeMeasured,
  move,
  projectIdOf,
  storeRuns,
  type MeasuredRun,
} from "./stored-runs.fixture.ts";
import { RUN_SORTS } from "@tidemark/limits";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

describe("pages", () => {
  const call = callAs();
  const COUNT = 30;
  const runs = drawRuns(COUNT);
  const filters: [what: string, filter: Filter, passes: (run: MeasuredRun) => boolean][] = [
    ["of all runs", {}, () => true],
    ["of a project", { project: "q" }, ({ project }) => project === "q"],
    ["of a state", { displayStatus: "stopped" }, ({ shown }) => shown === "stopped"],
    [
      "of a search",
      { q: "tag:fourth OR name:same" },
      ({ tags, name }) => tags.length > 0 || name.toLowerCase() === "same",
    ],
    [
      "of a search in a project",
      { q: "-status:running", project: "p", status: "running" },
      ({ shown, project, status }) => shown !== "running" && project === "p" && status === "running",
    ],
  ];

  beforeAll(() => storeMeasured(fixture, call.orgId, runs));

  test.each(orders)("by %s of %s are in the order of the list, with every filter", async (sort, metricKey) => {
    for (const [what, filter, passes] of filters) {
      const expected = sorted(runs.filter(passes), sort, metricKey);
      const { ids, nextCursor, total } = await summarize(fixture, call, { ...filter, sort, metricKey, limit: 1000 });
      expect({ what, ids }).toEqual({ what, ids: expected });
      expect({ total, nextCursor }).toEqual({ total: expected.length, nextCursor: "" });
    }
  });

  test.each(orders)("by %s of %s tile the whole list by cursor, in any size", async (sort, metricKey) => {
    for (const limit of [1, 7, 10, 29, 30, 31]) {
      const pages = await readAll(fixture, call, { sort, metricKey, limit });
      expect(pages.flatMap(({ ids }) => ids)).toEqual(sorted(runs, sort, metricKey));
      // A full last page has nothing after it, and has no cursor.
      expect(pages).toHaveLength(Math.ceil(COUNT / limit));
      expect(pages.slice(0, -1).every(({ ids }) => ids.length === limit)).toBe(true);
    }
  });

  test.each(orders)("by %s of %s tile the list of every filter by cursor", async (sort, metricKey) => {
    for (const [what, filter, passes] of filters.slice(1)) {
      const pages = await readAll(fixture, call, { ...filter, sort, metricKey, limit: 3 });
      const expected = sorted(runs.filter(passes), sort, metricKey);
      expect({ what, ids: pages.flatMap(({ ids }) => ids) }).toEqual({ what, ids: expected });
      expect(pages.map(({ total }) => total)).toEqual(pages.map(() => expected.length));
      const beyond = await summarize(fixture, call, { ...filter, sort, metricKey, offset: 100 });
      expect(beyond).toMatchObject({ ids: [], total: expected.length, nextCursor: "" });
    }
  });

  test.each(orders)("by %s of %s begin at every offset, beyond the runs with a value too", async (sort, metricKey) => {
    const expected = sorted(runs, sort, metricKey);
    const order = { sortBy: sort, metricKey };
    for (const offset of [...Array.from({ length: COUNT + 2 }, (_, n) => n), 10_000]) {
      const page = { filter: { q: "" }, order, limit: 5, offset: BigInt(offset) };
      const { runs: listed } = await fixture.client.listRuns(page, call);
      expect({ offset, ids: listed.map(({ run }) => run?.id) }).toEqual({
        offset,
        ids: expected.slice(offset, offset + 5),
      });
    }
    for (const offset of [0, 11, 25, 26, COUNT]) {
      const page = await summarize(fixture, call, { sort, metricKey, limit: 5, offset });
      expect({ offset, ids: page.ids }).toEqual({ offset, ids: expected.slice(offset, offset + 5) });
      expect(page.nextCursor !== "").toBe(offset + 5 < COUNT);
      const again = await summarize(fixture, call, { sort, metricKey, limit: 5, cursor: `offset:${offset}` });
      expect(again).toMatchObject({ ids: page.ids, nextCursor: page.nextCursor });
    }
  });

  test.each(orders)("by %s of %s begin at every offset of a search", async (sort, metricKey) => {
    const [, filter, passes] = filters[3]!;
    const expected = sorted(runs.filter(passes), sort, metricKey);
    for (let offset = 0; offset <= expected.length; offset += 2) {
      expect((await summarize(fixture, call, { ...filter, sort, metricKey, limit: 3, offset })).ids).toEqual(
        expected.slice(offset, offset + 3),
      );
    }
  });

  test.each(RUN_SORTS)("by %s of any size work with all filters together, one after the other", async (sort) => {
    const filter = { project: "p", status: "finished", displayStatus: "stopped" };
    const passes = ({ project, status, shown }: MeasuredRun): boolean =>
      project === "p" && status === "finished" && shown === "stopped";
    const expected = sorted(runs.filter(passes), sort);
    expect(expected.length).toBeGreaterThan(1);
    for (const limit of [1, 24, 25, 26, 49, 50, 51, 99, 100, 101, 1000]) {
      const first = await summarize(fixture, call, { ...filter, sort, limit });
      expect({ limit, ids: first.ids }).toEqual({ limit, ids: expected.slice(0, limit) });
      const { nextCursor: cursor } = await summarize(fixture, call, { ...filter, sort, limit: 1 });
      const second = await summarize(fixture, call, { ...filter, sort, limit, cursor });
      expect({ limit, ids: second.ids }).toEqual({ limit, ids: expected.slice(1, 1 + limit) });
      const page = { filter: filterOf(filter), order: { sortBy: sort, metricKey: SCORE }, limit, offset: 0n };
      const { runs: listed } = await fixture.client.listRuns(page, call);
      expect(listed.map(({ run }) => run?.id)).toEqual(first.ids);
    }
  });

  test("continue by cursor after an offset", async () => {
    const { nextCursor } = await summarize(fixture, call, { sort: "metric-best", limit: 5, offset: 20 });
    const page = await summarize(fixture, call, { sort: "metric-best", limit: 5, cursor: nextCursor });
    expect(page.ids).toEqual(sorted(runs, "metric-best").slice(25, 30));
  });

  test("go by the cursor where an offset is given too", async () => {
    const { nextCursor } = await summarize(fixture, call, { sort: "name", limit: 5 });
    const page = await summarize(fixture, call, { sort: "name", limit: 5, cursor: nextCursor, offset: 40 });
    expect(page.ids).toEqual(sorted(runs, "name").slice(5, 10));
  });

  test("by another size continue at the same run", async () => {
    const { nextCursor } = await summarize(fixture, call, { sort: "status", limit: 5 });
    expect((await summarize(fixture, call, { sort: "status", limit: 51, cursor: nextCursor })).ids).toEqual(
      sorted(runs, "status").slice(5),
    );
  });

  test("by cursor continue at the same run for a caller who sees less", async () => {
    const { nextCursor } = await summarize(fixture, call, { limit: 10 });
    const scoped = callAs({ orgId: call.orgId, projectId: await projectIdOf(fixture, call.orgId, "q") });
    const rest = sorted(runs, "created").slice(10);
    const ofQ = new Set(runs.filter(({ project }) => project === "q").map(({ id }) => id));
    expect((await summarize(fixture, scoped, { cursor: nextCursor })).ids).toEqual(rest.filter((id) => ofQ.has(id)));
    expect((await summarize(fixture, callAs(), { cursor: nextCursor })).ids).toEqual([]);
  });
});

describe("pages while runs change", () => {
  test.each(orders)("by %s of %s neither repeat nor skip what was there", async (sort, metricKey) => {
    const call = callAs();
    const runs = drawRuns(24);
    await storeMeasured(fixture, call.orgId, runs);
    const running = runs.filter(({ shown }) => shown === "running");
    const added: string[] = [];
    const pages = await readAll(fixture, call, { sort, metricKey, limit: 4 }, async (page) => {
      for (const [name, value] of [
        ["a", 9e307],
        ["same", 0.5],
        ["\u{1F700}", -9e307],
      ] as const) {
        const { id } = await makeRun(fixture.client, call, { name, project: "p" });
        if (page % 2 === 0) await putValues(fixture, call.orgId, id, { [SCORE]: value, [LOSS]: value });
        added.push(id);
      }
      const changed = pick(runs, page * 3);
      await fixture.client.updateRun(
        { runId: changed.id, tags: { tags: [`page ${page}`] }, notes: `page ${page}` },
        call,
      );
      // A run that is asked to stop shows another status, and keeps its position in every order but that one.
      if (sort !== "status")
        await move(fixture, call.orgId, pick(running, page).id, [["running", page % 2 === 0 ? "none" : "requested"]]);
      // Indexing changes where a value is read from, but not the value.
      const unindexed = await asOwner<{ run_id: string }>(
        fixture,
        "SELECT run_id FROM ingest.unindexed_runs WHERE org_id = $1 ORDER BY run_id LIMIT 3",
        [call.orgId],
      );
      await indexSortValues(
        fixture,
        call.orgId,
        unindexed.map(({ run_id: id }) => id),
      );
    });
    const seen = pages.flatMap(({ ids }) => ids);
    expect(new Set(seen).size).toBe(seen.length);
    const before = new Set(runs.map(({ id }) => id));
    expect(seen.filter((id) => before.has(id))).toEqual(sorted(runs, sort, metricKey));
    expect(seen.filter((id) => !before.has(id)).every((id) => added.includes(id))).toBe(true);
    // All added runs are newer, so that none is after the first page.
    if (sort === "created") expect(seen).toHaveLength(runs.length);
  });

  test("a run that the cursor names may be gone from the list meanwhile", async () => {
    const call = callAs();
    const runs = drawRuns(12).map((run) => ({ ...run, status: "running", shown: "running" }) as const);
    await storeRuns(fixture, call.orgId, runs);
    const first = await summarize(fixture, call, { status: "running", limit: 5 });
    await fixture.client.updateRun({ runId: first.ids.at(-1)!, status: "finished" }, call);
    const second = await summarize(fixture, call, { status: "running", limit: 10, cursor: first.nextCursor });
    expect([...first.ids, ...second.ids]).toEqual(sorted(runs, "created"));
    expect(second).toMatchObject({ total: 11, nextCursor: "" });
  });
});
