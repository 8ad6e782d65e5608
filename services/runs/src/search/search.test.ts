import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { found, summarize, type Request } from "../list/list-pages.fixture.ts";
import { RUN_SORTS } from "@tidemark/limits";
import { projectIdOf, storeRuns, storedRun } from "../list/stored-runs.fixture.ts";
import { putValues } from "../metrics/ingested.fixture.ts";
import { callAs, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { ALL, DRAFT, KELVIN, LISTS, OTTER, PLAIN, call, others, storeSeeds, type Row } from "./seeds.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
  await storeSeeds(fixture);
});
afterAll(() => fixture.close());

describe("operators", () => {
  test.each<Row>([
    ["a minus excludes a field", "-tag:b", others(OTTER)],
    ["NOT excludes a word", "NOT otter", others(OTTER)],
    ["NOT excludes a phrase", 'NOT "calm otter"', others(OTTER)],
    ["a minus excludes a group", "-(otter OR id:dddd)", others(OTTER, LISTS, PLAIN)],
    ["what is excluded twice is not", "NOT -tag:b", [OTTER]],
    ["OR finds either", "otter OR name:plain", [OTTER, PLAIN]],
    ["AND says what nothing says", "tag:b AND tag:É tag:B", [OTTER]],
    ["AND binds tighter than OR", "name:plain OR tag:b tag:x", [PLAIN]],
    ["parentheses bind tightest", "(name:plain OR tag:b) tag:x", []],
    ["NOT binds tighter than AND", "NOT status:stopped id:cccc OR name:lists", [LISTS]],
    ["one excludes of what another finds", "finished -status:finished", [DRAFT]],
    ["the same may be asked twice", "otter otter", [OTTER]],
    ["a run is what it is not", "tag:b -tag:b", []],
    ["nothing is excluded", "-name:nowhere", others()],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("incomplete input is searched as text", () => {
  test.each<Row>([
    ["a parenthesis that does not close", "(draft", [DRAFT]],
    ["a quote that does not close", 'draft" AND "', [DRAFT]],
    ["an operator at the end", "draft AND", [DRAFT]],
    ["NOT alone, which is in the metadata", "NOT", [OTTER, LISTS]],
    ["more pieces than there may be terms", `(${" a".repeat(40)} draft`, [DRAFT]],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("a search with filters and orders", () => {
  test.each<readonly [what: string, request: Request, q: string, names: readonly string[]]>([
    ["a project", { project: "Speech" }, "-tag:x", [DRAFT, KELVIN]],
    ["a project that there is not", { project: "speech" }, "-tag:x", []],
    ["a stored status", { status: "failed" }, "-tag:x", [KELVIN, LISTS]],
    ["a status shown", { displayStatus: "stopped" }, "-tag:x", [DRAFT, KELVIN]],
    ["both", { status: "failed", displayStatus: "stopped" }, "-tag:x", [KELVIN]],
    ["all of them", { status: "failed", displayStatus: "stopped", project: "Speech" }, "\u{212A}", [KELVIN]],
    ["those that exclude it", { status: "running" }, "status:stopped", []],
  ])("%s", async (_what, request, q, names) => {
    for (const sort of RUN_SORTS)
      expect(await found(fixture, call, q, { ...request, sort })).toEqual([...names].toSorted());
  });

  test("is returned in every order", async () => {
    const own = callAs();
    const runs = (["b", "a", "c"] as const).map((name, n) =>
      storedRun({
        name,
        tags: ["t"],
        status: n === 0 ? "running" : "finished",
        took: n,
        createdAt: `2026-01-0${n + 1}T00:00:00Z`,
      }),
    );
    await storeRuns(fixture, own.orgId, [...runs, storedRun({ name: "other" })]);
    await putValues(fixture, own.orgId, runs[0]!.id, { score: 2 });
    await putValues(fixture, own.orgId, runs[2]!.id, { score: 3 });
    const expected = {
      created: "cab",
      name: "abc",
      status: "acb",
      duration: "cab",
      "metric-latest": "cba",
      "metric-best": "cba",
    };
    for (const sort of RUN_SORTS) {
      const { runs: rows } = await summarize(fixture, own, { sort, metricKey: "score", q: "tag:t" });
      expect([sort, rows.map(({ run }) => run?.name).join("")]).toEqual([sort, expected[sort]]);
    }
  });

  test("sees a project-scoped key's own project only", async () => {
    const scoped = callAs({ orgId: call.orgId, projectId: await projectIdOf(fixture, call.orgId, "default") });
    expect(await found(fixture, scoped, "-tag:x")).toEqual([LISTS, PLAIN]);
    expect(await found(fixture, scoped, "otter")).toEqual([]);
    expect(await found(fixture, scoped, "project:vision")).toEqual([]);
    expect(await found(fixture, scoped, "-project:vision")).toEqual([LISTS, PLAIN]);
    expect(await found(fixture, scoped, "id:aaaa OR id:dddd")).toEqual([LISTS, PLAIN]);
    expect(await found(fixture, scoped, "-tag:x", { project: "Vision" })).toEqual([]);
  });

  test("sees its own organization only", async () => {
    const other = callAs();
    for (const q of [
      "otter",
      "tag:x",
      "-tag:nothing",
      "project:vision",
      "-project:nothing",
      "id:aaaa",
      "status:running",
    ]) {
      expect(await found(fixture, other, q)).toEqual([]);
    }
  });
});

test("SQL in a search is text", async () => {
  for (const q of ["'; DROP TABLE runs.runs; --", "tag:' OR '1'='1", 'name:"$1"', "id:' OR", "project:'"]) {
    expect(await found(fixture, call, q)).toEqual([]);
  }
  expect(await found(fixture, call, "")).toEqual(ALL);
});
