import { dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { allModules } from "@tidemark/all";
import { migrationsOf } from "@tidemark/host";
import { declaredStatements, type Statement } from "@tidemark/pg";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import "@tidemark/usage/recount";
import pg from "pg";
import { describeStatements, judgeRows } from "./describe-statements.ts";
import { openSources, readCalls, type RowCall } from "./read-calls.ts";

/** The calls whose statement is only known when they run. Remove an entry when the check can find its statement: it fails until then. */
const knownWhenRun: readonly string[] = [
  "services/artifacts/src/models/search-models.sql.ts statement",
  "services/artifacts/src/registry/search-registry.sql.ts statement",
  "services/runs/src/find/find.sql.ts statement",
  "services/runs/src/list/choose-newest.sql.ts statement",
  "services/runs/src/list/choose-runs.sql.ts statement",
  "services/runs/src/list/run-counts.sql.ts statement",
  "services/runs/src/regex-search/candidates.sql.ts fetch",
  'services/runs/src/regex-search/candidates.sql.ts plannedSql("runs_weigh_candidates", text)',
  "services/traces/src/list/trace-rows.sql.ts statement",
];

let database: TestDatabase;
let client: pg.Client;
let calls: readonly RowCall[];
let texts: readonly string[];
beforeAll(async () => {
  database = await createTestDatabase(migrationsOf(allModules));
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const root = dirname(dirname(import.meta.dirname));
  const sources = await openSources(root);
  calls = readCalls(root, sources);
  texts = sources.texts;
  sources.close();
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

/** Returns the declared statements that a call may run, as far as they exist before it runs. */
function statementsOf({ statements }: RowCall): readonly Statement[] {
  return statements.flatMap((traced) => {
    if (!traced.includes("*")) return declaredStatements().filter(({ name }) => name === traced);
    if (traced.replaceAll("*", "") === "") return [];
    const pattern = new RegExp(`^${traced.replaceAll("*", String.raw`\w+`)}$`);
    // A name that a source has in full is that of another statement.
    const isOther = (name: string): boolean => texts.some((text) => text.includes(`"${name}"`));
    return declaredStatements().filter(({ name }) => pattern.test(name) && !isOther(name));
  });
}

test("the types of rows say what the statements return", async () => {
  const statements = new Set(calls.flatMap(statementsOf));
  const columns = await describeStatements(client, [...statements]);
  const faults = calls.flatMap((call) =>
    statementsOf(call).flatMap(({ name, text }) =>
      judgeRows(text, columns.get(name) ?? [], call.members).map((fault) => `${call.place} (${name}): ${fault}`),
    ),
  );
  expect(faults).toEqual([]);
});

test("the statement of nearly every call is found", () => {
  expect(calls.length).toBeGreaterThan(350);
  const unknown = calls.filter((call) => statementsOf(call).length === 0).map(({ place }) => place);
  expect([...new Set(unknown)]).toEqual(knownWhenRun);
});
