import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { checkRegex, compileRegex } from "@tidemark/regex";
import { asOwner, callAs, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { parseSearch } from "./parse-search.rules.ts";
import { matches, type SearchedRun } from "./search-evaluator.fixture.ts";
import { searchText, searchedRun } from "./searched-runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

/** Stores runs in a new organization directly in the tables; only the triggers run. */
async function store(runs: readonly SearchedRun[]): Promise<string> {
  const orgId = randomUUID();
  await asOwner(
    fixture,
    `INSERT INTO runs.projects (org_id, id, name)
     SELECT DISTINCT ON (name) $1::uuid, gen_random_uuid(), name FROM unnest($2::text[]) AS p (name)`,
    [orgId, runs.map(({ project }) => project)],
  );
  for (const run of runs) {
    const stop = { stopping: "requested", stopped: "completed" }[run.displayStatus as string] ?? "none";
    await asOwner(
      fixture,
      `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                              finished_at, stop_state, stop_request_id)
       SELECT $1, $2, p.id, $4, $5, $6, $7, $8, now(), now(), CASE WHEN $5 <> 'running' THEN now() END, $9,
              CASE WHEN $9 <> 'none' THEN gen_random_uuid() END
       FROM runs.projects p WHERE p.org_id = $1 AND p.name = $3`,
      [orgId, run.id, run.project, run.name, run.status, run.config, run.tags, run.metadata, stop],
    );
  }
  return orgId;
}

const regex = (pattern: string, text: string): boolean => compileRegex(pattern).test(text);

test("PostgreSQL and the threads find what the rules say, in any order", async () => {
  const cases = fc
    .array(searchedRun, { minLength: 1, maxLength: 8 })
    .chain((runs) => fc.tuple(fc.constant(runs), fc.array(searchText(runs), { minLength: 8, maxLength: 8 })));
  const sorts = ["created", "name", "status", "duration", "metric-best", "metric-latest"];
  let found = 0;
  await fc.assert(
    fc.asyncProperty(cases, fc.constantFrom(...sorts), async ([runs, texts], sortBy) => {
      const call = callAs({ orgId: await store(runs) });
      for (const q of texts) {
        const tree = parseSearch(q, checkRegex);
        const expected = runs.filter((run) => tree === undefined || matches(tree, run, regex)).map(({ id }) => id);
        const order = { sortBy, metricKey: "k" };
        const { runs: listed, total } = await fixture.client.summarizeRuns({ filter: { q }, order, limit: 100 }, call);
        expect({ q, ids: listed.map(({ run }) => run?.id ?? "").toSorted() }).toEqual({ q, ids: expected.toSorted() });
        expect(total).toBe(BigInt(expected.length));
        const { totalRuns } = await fixture.client.getOverview({ filter: { q }, metricKey: "k" }, call);
        expect(totalRuns).toBe(total);
        found += expected.length;
      }
    }),
    { numRuns: 60 },
  );
  // A test in which nothing is ever found would prove nothing.
  expect(found).toBeGreaterThan(100);
});
