import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { DisplayStatus, RunStatus, StopState } from "@tidemark/run-state";
import { insertAggregates, putAggregate } from "../metrics/ingested.fixture.ts";
import { asOwner, callAs, failure, json, makeRun, startRuns, text, type RunsFixture } from "../runs.fixture.ts";
import { readAll, SCORE, summarize, type Filter, type Request } from "./list-pages.fixture.ts";
import {
  drawRuns,
  instant,
  sorted,
  storeMeasured,
  move,
  projectIdOf,
  storeRuns,
  storedRun,
  type Step,
} from "./stored-runs.fixture.ts";
import { writeRunCursor } from "./run-cursor.ts";
import type { RunPosition, RunSort } from "./run-list.rules.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

describe("the total", () => {
  const call = callAs();
  const stranger = callAs();
  type Known = { project: string; status: RunStatus; shown: DisplayStatus };
  const known: Known[] = [];
  const paths: readonly (readonly Step[])[] = [
    [],
    [["finished", "none"]],
    [["failed", "none"]],
    [["running", "requested"]],
    [
      ["running", "requested"],
      ["running", "acknowledged"],
    ],
    [
      ["running", "requested"],
      ["failed", "completed"],
    ],
    [
      ["running", "requested"],
      ["failed", "terminal_without_completion"],
    ],
    [
      ["failed", "terminal_without_completion"],
      ["failed", "completed"],
    ],
    [
      ["running", "acknowledged"],
      ["failed", "completed"],
      ["finished", "completed"],
    ],
    // Back again: the counts have to be reverted.
    [
      ["running", "requested"],
      ["running", "none"],
    ],
    [
      ["running", "requested"],
      ["failed", "completed"],
      ["running", "none"],
    ],
    [
      ["finished", "completed"],
      ["running", "completed"],
    ],
    [
      ["failed", "completed"],
      ["running", "requested"],
      ["finished", "terminal_without_completion"],
    ],
  ];
  const shownOf = (status: RunStatus, stop: StopState): DisplayStatus => {
    if (status === "running") return stop === "requested" || stop === "acknowledged" ? "stopping" : "running";
    return stop === "completed" ? "stopped" : status;
  };

  beforeAll(async () => {
    for (const [i, path] of paths.entries()) {
      // A different number of each kind, and not the same in both projects.
      for (let n = 0; n <= i % 3; n += 1) {
        for (const project of n === 1 ? ["p"] : ["p", "q"]) {
          const { id } = await makeRun(fixture.client, call, { project, name: "common", tags: [project] });
          await move(fixture, call.orgId, id, path);
          const [status, stop] = path.at(-1) ?? (["running", "none"] as const);
          known.push({ project, status, shown: shownOf(status, stop) });
        }
      }
    }
    await makeRun(fixture.client, stranger, { project: "p", name: "common" });
  });

  const statuses = [undefined, "running", "finished", "failed", "stopping"];
  const shown = [undefined, "running", "stopping", "stopped", "finished", "failed", "paused"];
  const queries: [q: string, finds: (run: Known) => boolean][] = [
    ["", () => true],
    ["common", () => true],
    ["-status:stopped OR tag:p", (run) => run.shown !== "stopped" || run.project === "p"],
  ];

  test.each([undefined, "p", "q", "nowhere"])(
    "is exact with every filter on states, in project %s",
    async (project) => {
      for (const status of statuses) {
        for (const displayStatus of shown) {
          for (const [q, finds] of queries) {
            const matching = known.filter(
              (run) =>
                (project === undefined || run.project === project) &&
                (status === undefined || run.status === status) &&
                (displayStatus === undefined || run.shown === displayStatus) &&
                finds(run),
            );
            const filter: Filter = {
              q,
              ...(project === undefined ? {} : { project }),
              ...(status === undefined ? {} : { status }),
              ...(displayStatus === undefined ? {} : { displayStatus }),
            };
            const { total, ids } = await summarize(fixture, call, { ...filter, limit: 1000, selection: true });
            expect({ filter, total, ids: ids.length }).toEqual({
              filter,
              total: matching.length,
              ids: matching.length,
            });
          }
        }
      }
    },
  );

  test("is of the project with an id, too, and empty for an id of no project", async () => {
    const projectId = await projectIdOf(fixture, call.orgId, "p");
    const ofP = known.filter(({ project }) => project === "p").length;
    expect((await summarize(fixture, call, { projectId })).total).toBe(ofP);
    expect((await summarize(fixture, call, { projectId, project: "p" })).total).toBe(ofP);
    expect(await summarize(fixture, call, { projectId, project: "q" })).toMatchObject({ total: 0, ids: [] });
    expect(await summarize(fixture, call, { projectId: randomUUID() })).toMatchObject({ total: 0, ids: [] });
    expect(await summarize(fixture, call, { projectId: "p" })).toMatchObject({ total: 0, ids: [] });
    expect(await summarize(fixture, stranger, { projectId })).toMatchObject({ total: 0, ids: [] });
  });

  test("is of a project-scoped key's own project, with any filter", async () => {
    const scoped = callAs({ orgId: call.orgId, projectId: await projectIdOf(fixture, call.orgId, "q") });
    const ofQ = known.filter(({ project }) => project === "q").length;
    expect((await summarize(fixture, scoped)).total).toBe(ofQ);
    expect((await summarize(fixture, scoped, { q: "common" })).total).toBe(ofQ);
    expect((await summarize(fixture, scoped, { project: "p" })).total).toBe(0);
    expect((await summarize(fixture, scoped, { project: "p", q: "common" })).total).toBe(0);
  });

  test("does not depend on the page", async () => {
    expect((await summarize(fixture, call, { limit: 1 })).total).toBe(known.length);
    expect((await summarize(fixture, call, { offset: 10_000 })).total).toBe(known.length);
    expect((await summarize(fixture, call, { cursor: "offset:10000", q: "common" })).total).toBe(known.length);
  });

  test("follows a run that is resumed", async () => {
    const own = callAs();
    const id = randomUUID();
    await makeRun(fixture.client, own, { id });
    await move(fixture, own.orgId, id, [["failed", "completed"]]);
    expect((await summarize(fixture, own, { displayStatus: "stopped" })).total).toBe(1);
    await fixture.client.createRun({ id, mode: "resume" }, own);
    expect((await summarize(fixture, own, { displayStatus: "stopped" })).total).toBe(0);
    expect((await summarize(fixture, own, { status: "running", displayStatus: "running" })).total).toBe(1);
  });
});

describe("rows", () => {
  test("for choosing runs have documents, tags and control, and no metrics", async () => {
    const call = callAs();
    const { id } = await makeRun(fixture.client, call, {
      name: "chosen",
      tags: ["t"],
      configJson: json('{"seed":12345678901234567890}'),
      metadataJson: json('{"notes":"n"}'),
    });
    await move(fixture, call.orgId, id, [["running", "requested"]]);
    await putAggregate(fixture, call.orgId, id, SCORE, { latest: 1 });
    const { runs, metricKeys, total, nextCursor } = await summarize(fixture, call, { selection: true });
    expect({ metricKeys, total, nextCursor }).toEqual({ metricKeys: [], total: 1, nextCursor: "" });
    expect(runs).toHaveLength(1);
    const [row] = runs;
    expect(row?.run).toMatchObject({ id, name: "chosen", tags: ["t"], notes: "n", status: "running" });
    expect(text(row?.run?.configJson)).toBe('{"seed":12345678901234567890}');
    expect(text(row?.run?.metadataJson)).toBe('{"notes":"n"}');
    expect(row?.runControl).toMatchObject({ stopState: "requested", displayStatus: "stopping", stopRequestId: id });
    expect(row?.runControl?.details).toBeUndefined();
    expect(row?.metrics).toMatchObject({ keys: [], latest: [], best: [], count: [], keysTotal: 0n, nextCursor: "" });
    expect(row?.artifactCounts).toMatchObject({ checkpoint: 0n, rollout: 0n, file: 0n });
  });

  test("for choosing runs page and sort by metric as others do", async () => {
    const call = callAs();
    const runs = drawRuns(12);
    await storeMeasured(fixture, call.orgId, runs);
    const pages = await readAll(fixture, call, { sort: "metric-best", limit: 5, selection: true });
    expect(pages.flatMap(({ ids }) => ids)).toEqual(sorted(runs, "metric-best"));
  });

  test("have the metric keys of this page, each once, in the order of code points", async () => {
    const call = callAs();
    // U+FF5E comes before U+1F600, though its UTF-16 does not.
    const keys = [["b", "\u{1F600}"], ["a", "b", "\u{FF5E}"], [], ["B", "é", "__proto__"]];
    const runs = keys.map((_keys, n) => storedRun({ createdAt: instant(n) }));
    await storeRuns(fixture, call.orgId, runs);
    for (const [n, own] of keys.entries()) {
      for (const key of own) await putAggregate(fixture, call.orgId, runs[n]!.id, key, { latest: 1 });
    }
    const all = await summarize(fixture, call);
    expect(all.metricKeys).toEqual(["B", "__proto__", "a", "b", "é", "\u{FF5E}", "\u{1F600}"]);
    const newest = await summarize(fixture, call, { limit: 2 });
    expect(newest.metricKeys).toEqual(["B", "__proto__", "é"]);
    expect((await summarize(fixture, call, { limit: 2, cursor: newest.nextCursor })).metricKeys).toEqual([
      "a",
      "b",
      "\u{FF5E}",
      "\u{1F600}",
    ]);
    expect((await summarize(fixture, call, { q: "nowhere" })).metricKeys).toEqual([]);
  });

  test("have at most 250 metric keys together", async () => {
    const call = callAs();
    const runs = [storedRun(), storedRun()];
    await storeRuns(fixture, call.orgId, runs);
    for (const [n, { id }] of runs.entries()) {
      await asOwner(
        fixture,
        insertAggregates(`SELECT $1::uuid, $2::uuid, lpad((2 * n + $3)::text, 4, '0'), false, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0
                     FROM generate_series(1, 200) n`),
        [call.orgId, id, n],
      );
    }
    const { metricKeys, runs: rows } = await summarize(fixture, call);
    expect(metricKeys).toEqual(Array.from({ length: 250 }, (_, n) => String(n + 2).padStart(4, "0")));
    expect(rows.map(({ metrics }) => metrics?.keys.length)).toEqual([200, 200]);
  });
});

describe("refused is", () => {
  const call = callAs();
  const created = "2026-01-02T03:04:05Z";

  test.each<[what: string, request: Request, field: string]>([
    ["a limit of 0", { limit: 0 }, "limit"],
    ["a limit of 1001", { limit: 1001 }, "limit"],
    ["an unknown order", { sort: "size" }, "sort_by"],
  ])("%s", async (_what, request, field) => {
    expect(await failure(summarize(fixture, call, request))).toMatchObject({ reason: "bad_request", field });
  });

  test.each<[what: string, sort: RunSort, values: RunPosition["values"], createdAt: string]>([
    ["the longest duration", "duration", [Number.MAX_SAFE_INTEGER], created],
    ["the shortest one", "duration", [Number.MIN_SAFE_INTEGER], created],
    ["the greatest value", "metric-best", [Number.MAX_VALUE], created],
    ["the smallest value", "metric-latest", [5e-324], created],
    ["the first year", "created", [], "0001-01-01T00:00:00Z"],
    ["the last year", "created", [], "9999-12-31T23:59:59.999999Z"],
    ["a name with quotes", "name", ["'; --\"\\"], created],
    ["half of a surrogate pair", "name", ["\u{D800}"], created],
  ])("not a cursor with %s", async (_what, sort, values, createdAt) => {
    const cursor = writeRunCursor({ sort, metricKey: SCORE }, { part: "valued", values, createdAt, id: randomUUID() });
    expect((await summarize(fixture, call, { sort, cursor })).ids).toEqual([]);
  });
});
