import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Db, Tx } from "@tidemark/pg";
import { readSummaries } from "../read/runs.sql.ts";
import { findRuns } from "../regex-search/find-runs.ts";
import { startRuns, type RunsFixture } from "../runs.fixture.ts";
import { parseSearch } from "../search/parse-search.rules.ts";
import { resolveTerms } from "../search/tree.rules.ts";
import { chooseRuns } from "./choose-runs.sql.ts";
import { explaining, readsOf, type Explained, type Plan } from "./explain.fixture.ts";
import { COMMON_METRIC, RARE_METRIC, seedForPlans } from "./plan-seed.fixture.ts";
import { countMetricPoints, countRuns } from "./run-counts.sql.ts";
import type { RunFilter } from "./run-filter.sql.ts";
import { RUN_SORTS } from "@tidemark/limits";
import type { RunSort } from "./run-list.rules.ts";
import { projectIdOf } from "./stored-runs.fixture.ts";

// How PostgreSQL runs the statements of lists, for the role of the service, in an organization with many
// rows. Costs are left out, and so are differences between the supported versions: another plan here is
// slower by a factor, or the test says too much. All plans are in one file, because they share one
// database that takes long to fill.
let fixture: RunsFixture;
// Ids are derived from it, and so are the statistics about them.
const orgId = "11111111-1111-4111-8111-111111111111";
let projectId: string;
beforeAll(async () => {
  fixture = await startRuns();
  await seedForPlans(fixture, orgId);
  projectId = await projectIdOf(fixture, orgId, "project 3");
});
afterAll(() => fixture.close());

const everything: RunFilter = {
  projectId: undefined,
  status: undefined,
  displayStatus: undefined,
  search: undefined,
};
const inProject = (): RunFilter => ({ ...everything, projectId });
const searching = (q: string, filter = everything): RunFilter => {
  const tree = parseSearch(q, () => "invalid");
  if (tree === undefined) throw new Error("a blank search");
  const search = resolveTerms<never>(tree, [], () => {
    throw new Error("an expression");
  });
  return { ...filter, search };
};

/** How the statements of some work are run. */
function plansOf(work: (tx: Tx) => Promise<unknown>): Promise<readonly Explained[]> {
  return fixture.db.readTenant(orgId, async (tx) => {
    const noted = explaining(tx);
    await work(noted.tx);
    return noted.explained;
  });
}

/** The first page of a list, and the one after it. */
function plansOfPages(
  filter: RunFilter,
  sort: RunSort,
  metricKey: string = COMMON_METRIC,
): Promise<readonly Explained[]> {
  return plansOf(async (tx) => {
    const choice = { filter, order: { sort, metricKey }, limit: 101 };
    const { page } = await chooseRuns(tx, orgId, { ...choice, start: { offset: 0 } });
    const [first] = page;
    if (first === undefined) throw new Error("an empty page");
    await chooseRuns(tx, orgId, { ...choice, start: { after: first } });
    await chooseRuns(tx, orgId, { ...choice, start: { after: first }, limit: 10 });
  });
}

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

const BIG = ["runs", "run_texts", "metric_runs", "metric_keys", "metric_aggregate_pages"];
const readsAll = (plan: Plan): string[] =>
  plan.filter((line) => BIG.some((table) => line.endsWith(`Seq Scan ${table}`)));

describe("a list walks the index of its order", () => {
  const indexes: Partial<Record<RunSort, string>> = {
    created: "runs_newest",
    name: "runs_by_name",
    status: "runs_by_status",
    duration: "runs_by_duration",
  };
  const sorts = RUN_SORTS.filter((sort) => indexes[sort] !== undefined);

  test.each(sorts)("by %s, of an organization", async (sort) => {
    const explained = await plansOfPages(everything, sort);
    expect(explained.length).toBeGreaterThanOrEqual(5);
    for (const { name, plan } of explained) {
      expect({ name, plan }).toEqual({ name, plan: ["Limit", `  Index Scan ${indexes[sort]}`] });
    }
  });

  test.each(sorts)("by %s, of a project", async (sort) => {
    const explained = await plansOfPages(inProject(), sort);
    expect(explained.length).toBeGreaterThanOrEqual(5);
    for (const { name, plan } of explained) {
      expect({ name, plan }).toEqual({ name, plan: ["Limit", `  Index Scan ${indexes[sort]}_of_project`] });
    }
  });
});

describe("a list by metric", () => {
  const indexedPart = (plan: Plan): Plan => {
    // The first of the two lists that are merged.
    const merge = plan.findIndex((line) => line.trim() === "Merge Append");
    const indent = `${" ".repeat(plan[merge]!.search(/\S/) + 2)}`;
    const [begin, end] = plan.flatMap((line, i) => (i > merge && line === `${indent}Limit` ? [i] : []));
    return plan.slice(begin! + 1, end).map((line) => line.trim());
  };

  test.each([
    ["metric-best", "metric_keys_by_best"],
    ["metric-latest", "metric_keys_by_latest"],
  ] as const)(
    "walks the index of sort values by %s, and sorts only those that are not indexed",
    async (sort, index) => {
      for (const filter of [everything, inProject()]) {
        const explained = await plansOfPages(filter, sort);
        for (const { name, plan } of explained.filter(({ name: statement }) => statement.startsWith("runs_choose"))) {
          const [, , walk, ...lookUps] = indexedPart(plan);
          expect({ name, walk, lookUps: lookUps.toSorted() }).toEqual({
            name,
            walk: `Index Scan ${index}`,
            lookUps: ["Index Scan runs_pkey", "Index Scan unindexed_runs_pkey"],
          });
          expect(plan.filter((line) => line.trim() === "Sort")).toHaveLength(1);
          expect(readsOf(plan)).toContain("unindexed_runs");
          expect(readsAll(plan)).toEqual([]);
        }
      }
    },
  );

  test("goes on with the runs that have no value, newest first, and looks each up", async () => {
    for (const [filter, newest] of [
      [everything, "runs_newest"],
      [inProject(), "runs_newest_of_project"],
    ] as const) {
      const explained = await plansOf((tx) =>
        chooseRuns(tx, orgId, {
          filter,
          order: { sort: "metric-best", metricKey: "nobody/has" },
          start: { offset: 0 },
          limit: 101,
        }),
      );
      const rest = explained.filter(({ name }) => name.includes("rest"));
      expect(rest).toHaveLength(2);
      for (const { name, plan } of rest) {
        expect({ name, plan }).toEqual({
          name,
          plan: ["Limit", `  Index Scan ${newest}`, "    Index Scan metric_keys_pkey"],
        });
      }
    }
  });

  test("of a project with few runs, or of a rare state, begins with those runs", async () => {
    const small = { ...everything, projectId: await projectIdOf(fixture, orgId, "project 5") };
    for (const filter of [small, { ...everything, status: "running" }, { ...inProject(), displayStatus: "stopping" }]) {
      for (const { plan } of await plansOfPages(filter, "metric-best")) {
        expect(plan.join()).not.toContain("metric_keys_by_best");
        expect(readsAll(plan)).toEqual([]);
      }
    }
  });

  test("of a metric that few runs have reads only those", async () => {
    for (const { plan } of await plansOfPages(everything, "metric-best", RARE_METRIC)) {
      expect(readsAll(plan)).toEqual([]);
    }
  });
});

describe("a search is answered by an index:", () => {
  const RARE_TAG = "tag:rare-7";
  const WORDS = "run_texts_words";
  const searches: [what: string, q: string, index: string][] = [
    ["a tag", RARE_TAG, WORDS],
    ["a rare literal", String.raw`"\"seed\":9877"`, WORDS],
    ["a rare literal of a field", String.raw`config:"\"seed\":9877"`, WORDS],
    ["a name", `name:"run ${md5("9877")}"`, WORDS],
    ["notes", `notes:${md5("1411")}`, WORDS],
    ["terms together", `${RARE_TAG} -status:failed (model OR notes:abc)`, WORDS],
    ["either of two", `${RARE_TAG} OR tag:rare-8`, WORDS],
    ["the beginning of an id", `id:${md5(`${orgId} run 9877`).slice(0, 5)}`, "run_texts_pkey"],
    ["a status that few runs show", "status:stopping", "run_texts_by_status"],
  ];

  test.each(searches)("%s, newest first", async (_what, q, index) => {
    for (const { name, plan } of await plansOfPages(searching(q), "created")) {
      expect({ name, reads: readsOf(plan) }).toEqual({ name, reads: expect.arrayContaining([index]) });
      expect(readsOf(plan).filter((read) => !["run_texts", index].includes(read))).toEqual([]);
      expect(readsAll(plan)).toEqual([]);
    }
  });

  test.each(searches)("%s, in every other order, first and by itself", async (_what, q, index) => {
    for (const sort of RUN_SORTS.filter((name) => name !== "created")) {
      for (const { name, plan } of await plansOfPages(searching(q), sort)) {
        expect({ name, reads: readsOf(plan) }).toEqual({
          name,
          reads: expect.arrayContaining([index, "found"]),
        });
        expect({ name, all: readsAll(plan) }).toEqual({ name, all: [] });
      }
    }
  });

  test.each(searches)("%s, counted, and its values counted", async (_what, q, index) => {
    const explained = await plansOf(async (tx) => {
      await countRuns(tx, orgId, searching(q));
      await countMetricPoints(tx, orgId, searching(q));
    });
    expect(explained).toHaveLength(2);
    for (const { name, plan } of explained) {
      expect({ name, reads: readsOf(plan) }).toEqual({ name, reads: expect.arrayContaining([index]) });
      expect(readsAll(plan)).toEqual([]);
    }
  });

  test("a tag in a project, by the tag", async () => {
    for (const { plan } of await plansOfPages(
      searching(RARE_TAG, { ...everything, projectId: await projectIdOf(fixture, orgId, "project 7") }),
      "created",
    )) {
      expect(readsOf(plan)).toContain(WORDS);
      expect(readsAll(plan)).toEqual([]);
    }
  });

  test("what half of the runs have, by walking the newest until the page is full", async () => {
    for (const { name, plan } of await plansOfPages(searching("tag:even-1"), "created")) {
      expect({ name, plan }).toEqual({ name, plan: ["Limit", "  Index Scan run_texts_newest"] });
    }
    for (const { name, plan } of await plansOfPages(searching("status:finished"), "created")) {
      expect({ name, reads: readsOf(plan) }).toEqual({
        name,
        reads: [expect.stringMatching(/^run_texts_(newest|by_status)$/)],
      });
      expect(plan.filter((line) => line.trim() === "Sort")).toEqual([]);
    }
  });
});

describe("the texts for regular expressions are found by their literals:", () => {
  test.each([
    ["in any text", `re:/${md5("9877").slice(0, 12)}.+[0-9]/`],
    ["in the config", `config:re:/"${md5("27")}".*[0-9]\\}$/`],
    ["in notes", `notes:re:/^(${md5("1411")}|${md5("1410")})$/`],
    ["in a name", `name:re:/^run ${md5("9877").slice(0, 12)}/`],
    ["beside a tag", "tag:rare-7 config:re:/./"],
    ["in a tag", "tag:re:/^rare-(7|8)$/"],
  ])("%s", async (_what, q) => {
    const noted: Explained[] = [];
    const db: Pick<Db, "readTenant"> = {
      readTenant: (org, work, options) =>
        fixture.db.readTenant(
          org,
          async (tx) => {
            const { tx: explained, explained: plans } = explaining(tx);
            const result = await work(explained);
            noted.push(...plans);
            return result;
          },
          options,
        ),
    };
    const search = { orgId, projectId: undefined, status: undefined, displayStatus: undefined, q };
    const found = await findRuns({ ...fixture.db, ...db }, search);
    expect(found.length).toBeGreaterThan(0);
    const candidates = noted.filter(({ name }) => name === "runs_declare_candidates");
    expect(candidates).toHaveLength(1);
    for (const { name, plan } of candidates) {
      expect({ name, reads: readsOf(plan) }).toEqual({ name, reads: expect.arrayContaining(["run_texts_words"]) });
      expect(readsAll(plan)).toEqual([]);
    }
  });
});

describe("without a search", () => {
  test("totals come from the projects' counters", async () => {
    const explained = await plansOf(async (tx) => {
      await countRuns(tx, orgId, everything);
      await countRuns(tx, orgId, { ...inProject(), status: "failed", displayStatus: "stopped" });
    });
    for (const { plan } of explained) {
      expect(readsOf(plan).filter((read) => !read.startsWith("projects"))).toEqual([]);
    }
  });

  test("values come from the projects' counters", async () => {
    const explained = await plansOf(async (tx) => {
      await countMetricPoints(tx, orgId, everything);
      await countMetricPoints(tx, orgId, inProject());
    });
    for (const { name, plan } of explained) {
      expect({ name, reads: readsOf(plan).filter((read) => !read.startsWith("project_points")) }).toEqual({
        name,
        reads: [],
      });
    }
  });
});

test("the runs of a page are looked up by their ids, with their aggregates", async () => {
  const explained = await plansOf(async (tx) => {
    const order = { sort: "created", metricKey: COMMON_METRIC } as const;
    const { page } = await chooseRuns(tx, orgId, { filter: everything, order, start: { offset: 0 }, limit: 100 });
    await readSummaries(
      tx,
      orgId,
      page.map(({ id }) => id),
      250,
    );
    await readSummaries(
      tx,
      orgId,
      page.map(({ id }) => id),
      0,
    );
  });
  const [summaries, selections] = ["runs_read_summaries", "runs_list_runs_by_id"].map((statement) =>
    explained.filter(({ name }) => name.startsWith(statement)),
  );
  expect(summaries).toHaveLength(2);
  for (const { name, plan } of summaries!) {
    expect({ name, reads: readsOf(plan) }).toEqual({
      name,
      reads: expect.arrayContaining(["runs_pkey", "metric_keys_pkey", "metric_aggregate_pages_pkey"]),
    });
    expect({ name, all: readsAll(plan) }).toEqual({ name, all: [] });
  }
  expect(selections).toHaveLength(2);
  for (const { name, plan } of selections!) {
    expect({ name, reads: readsOf(plan) }).toEqual({ name, reads: expect.arrayContaining(["runs_pkey"]) });
    expect({ name, all: readsAll(plan) }).toEqual({ name, all: [] });
  }
});
