import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { isDeep, postgresMajor } from "@tidemark/testkit";
import { artifactReads } from "./artifact-reads.ts";
import { documentReads } from "./document-reads.ts";
import { describeReads, type Executed } from "./executed-plans.ts";
import { BASE_ROWS, ROWS_OF_RUN, type Read, type Tenant } from "./read.ts";
import { runDataReads } from "./run-data-reads.ts";
import { runReads } from "./run-reads.ts";
import { openSkewedDatabase, tenantNames, type SkewedDatabase } from "./skewed-database.ts";
import { tableReads } from "./table-reads.ts";
import { traceReads } from "./trace-reads.ts";

// The rows that PostgreSQL reads for each request of the product, in a database where hundreds of small organizations, some of 1,000 runs and a large one
// share the tables: before PostgreSQL has looked at any of them, with complete statistics, and after these are gone. A plan that was made for the
// average organization reads thousands of rows for a page of few. All requests share the database, because it takes long to fill.

/** A request may switch PostgreSQL to another plan after five. */
const REQUESTS_BEFORE = 6;
/** Statements that were prepared before are planned again with the first request. */
const REQUESTS_AGAIN = 1;
/** A row of a table is found through the pages of an index, and of the table. */
const PAGES_OF_ROW = 6;

const reads = [...artifactReads, ...runReads, ...tableReads, ...runDataReads, ...documentReads, ...traceReads].filter(
  ({ since = 0 }) => since <= (postgresMajor ?? Number.POSITIVE_INFINITY),
);

let database: SkewedDatabase;
beforeAll(async () => {
  database = await openSkewedDatabase();
});
afterAll(() => database?.stop());

async function request({ api, ...tenant }: Tenant, { method, path, body }: Read) {
  const answer = await api.call(
    method ?? "GET",
    path({ api, ...tenant }),
    body === undefined ? {} : { body: body({ api, ...tenant }) },
  );
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.json;
}

/** Workers may read meanwhile. What they read every few seconds is not in all of several measurements. */
const MEASUREMENTS_MAX = 3;

async function readsOf(tenant: Tenant, read: Read, requestsBefore: number) {
  for (let i = 0; i < requestsBefore; i += 1) await request(tenant, read);
  for (let left = MEASUREMENTS_MAX - 1; ; left -= 1) {
    let items = 0;
    const executed = await database.plans.during(async () => {
      items = read.items(await request(tenant, read));
    });
    const rows = executed.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
    const pages = executed.reduce((sum, statement) => sum + statement.pages, 0);
    const rowsMax = (read.base ?? BASE_ROWS) + (read.each ?? ROWS_OF_RUN) * items;
    const pagesMax = PAGES_OF_ROW * rowsMax;
    const isWithin = rows <= rowsMax && pages <= pagesMax;
    if (isWithin || left === 0) return { rows, rowsMax, pages, pagesMax, read: isWithin ? [] : executed.map(shown) };
  }
}

/** Returns the description of a plan that reads too much. */
const shown = ({ text, plan, pages }: Executed) => ({
  text: text.trim().slice(0, 200),
  pages,
  reads: describeReads(plan),
});

const TABLES =
  "SELECT oid::regclass AS name FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('runs'::regnamespace, 'ingest'::regnamespace, 'artifacts'::regnamespace, 'traces'::regnamespace, 'reports'::regnamespace)";

async function forEachTable(statement: (name: string) => string): Promise<void> {
  const { rows } = await database.owner.query<{ name: string }>(TABLES);
  for (const { name } of rows) await database.owner.query(statement(name));
}

const states: readonly (readonly [name: string, requestsBefore: number, enter: () => Promise<unknown>])[] = [
  ["before any statistics", REQUESTS_BEFORE, async () => {}],
  ["with all statistics", REQUESTS_AGAIN, () => database.owner.query("ANALYZE")],
  [
    "after the statistics are gone",
    REQUESTS_AGAIN,
    async () => {
      await database.owner.query(`DELETE FROM pg_statistic WHERE starelid IN (SELECT name FROM (${TABLES}) t)`);
      // Makes connections plan again.
      await forEachTable((name) => `ALTER TABLE ${name} SET (autovacuum_enabled = false)`);
    },
  ],
];

// Statistics are gone after a restore or a major upgrade.
describe.each(isDeep ? states : states.slice(0, 2))("%s", (_state, requestsBefore, enter) => {
  beforeAll(async () => {
    await enter();
  });

  describe.each(tenantNames)("%s reads few rows for", (name) => {
    test.each(reads)("$name", async (read) => {
      expect(await readsOf(database.tenants.get(name)!, read, requestsBefore)).toMatchObject({ read: [] });
    });
  });
});
