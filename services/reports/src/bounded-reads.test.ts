import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { createReadCounter } from "@tidemark/testkit";
import { callOf, json, nobody, startReports, type ReportsClient, type ReportsFixture } from "./reports.fixture.ts";

// The amount that a request reads depends on its response, not on the organization's size: one has 20,000 reports and views here, a thousand others have 1 to
// 10. Blocks count as often as they are fetched: a row by an index takes three or four, a new row a few in every index. A list that read the blocks of
// its reports would fetch two more for each.

const SIZE = 20_000;
/** More often than PostgreSQL plans a kept statement for its values. */
const TIMES = 7;

const counter = createReadCounter();
let fixture: ReportsFixture;
let client: ReportsClient;
let large: Skewed;
let token = "";
let viewId = "";
/** A view that another user shares. */
let sharedId = "";
/** Where the page after the user's own views begins. */
let ownViewsEnd = "";
const call = () => callOf(large.orgId);
const userId = randomUUID();
const strangerId = randomUUID();
const session = () => callOf(large.orgId, { kind: CallerKind.SESSION, userId, role: "member" });

beforeAll(async () => {
  fixture = await startReports();
  client = fixture.newProcess({ db: counter.around(fixture.db) });
  large = await seedSkewed(fixture, { organizations: 1000, size: SIZE });
  await fixture.addKey(large.orgId);
  token = (await client.shareReport({ reportId: large.reportId }, call())).report!.shareToken!;
  for (let i = 0; i < 60; i += 1) {
    const visibility = i % 2 === 0 ? "organization" : "private";
    viewId = (await client.createView({ name: `v${i}`, visibility }, session())).view!.id;
  }
  const page = await client.listViews({ limit: 60 }, session());
  ownViewsEnd = page.nextCursor;
  sharedId = (await client.listViews({ limit: 1, cursor: ownViewsEnd }, session())).views[0]!.id;
});
afterAll(() => fixture.close());

const made: string[] = [];
let cursor = "";

/** The name of the request, how many blocks it may fetch, and the request. */
const cases: [what: string, blocksMax: number, ask: () => Promise<unknown>][] = [
  ["200 reports", 260, () => client.listReports({ limit: 200 }, call())],
  ["200 reports of a project", 260, () => client.listReports({ limit: 200, project: large.projectId }, call())],
  [
    "100 panels of 50 reports",
    700,
    async () => (cursor = (await client.listPanels({ limit: 100 }, call())).nextCursor),
  ],
  ["the next 100 panels", 700, () => client.listPanels({ limit: 100, cursor }, call())],
  [
    "100 panels of a project",
    700,
    () => client.listPanels({ limit: 100 }, callOf(large.orgId, { projectId: large.projectId })),
  ],
  ["a report", 30, () => client.getReport({ reportId: large.reportId }, call())],
  ["a report that is not there", 20, () => client.getReport({ reportId: randomUUID() }, nobody()).catch(() => {})],
  ["a shared report", 40, () => client.getSharedReport({ shareToken: token }, nobody())],
  [
    "a new report",
    60,
    async () => {
      const blocksJson = json([{ kind: "horizontal_rule" }]);
      made.push((await client.createReport({ title: "t", blocksJson }, call())).report!.id);
    },
  ],
  ["a changed report", 80, () => client.updateReport({ reportId: made.at(-1)!, title: "u" }, call())],
  ["a deleted report", 80, () => client.deleteReport({ reportId: made.pop()! }, call())],
  ["a view", 12, () => client.getView({ viewId }, session())],
  ["a changed view", 40, () => client.updateView({ viewId }, session())],
  ["50 views", 80, () => client.listViews({}, session())],
  ["100 views that others share", 160, () => client.listViews({ limit: 100, cursor: ownViewsEnd }, session())],
  ["a view that another user shares", 12, () => client.getView({ viewId: sharedId }, session())],
  [
    "50 views of a user who has none",
    80,
    () => client.listViews({}, callOf(large.orgId, { kind: CallerKind.SESSION, userId: strangerId, role: "viewer" })),
  ],
  ["a new view", 40, () => client.createView({ name: "n" }, session())],
  ["preferences", 10, () => client.setPreferences({ selectedProject: "p" }, session())],
];

describe.each(["never analyzed", "analyzed"])("in a database that was %s, reads are bound for", (state) => {
  beforeAll(async () => {
    if (state === "analyzed") await fixture.ask("ANALYZE");
  });

  test.each(cases)("%s", async (_what, blocksMax, ask) => {
    for (let i = 1; i < TIMES; i += 1) await ask();
    const reads = await counter.readsOf(ask);
    // Includes the tables, so that a failure names them.
    expect(reads.blocks > blocksMax ? reads : undefined).toBeUndefined();
    expect(reads.blocks).toBeGreaterThan(0);
  });
});

/** The rows of the large organization of a skewed database. */
type Skewed = {
  readonly orgId: string;
  /** A tenth of its reports belong to it. */
  readonly projectId: string;
  /** A report with a share token. */
  readonly reportId: string;
};

/**
 * Fills the tables: `organizations` with 1 to 10 reports each, and one with `size` of them. Each has blocks of 10 KB and two panels. Rows arrive in random
 * order; counters are those of the rows. The large organization also has `size` views of other users; every second one is shared.
 */
async function seedSkewed(
  { ask }: Pick<ReportsFixture, "ask">,
  { organizations, size }: { readonly organizations: number; readonly size: number },
): Promise<Skewed> {
  const [orgId, projectId, reportId] = [randomUUID(), randomUUID(), randomUUID()];
  await ask(
    `CREATE TABLE public.seeded AS
     SELECT CASE WHEN n = 0 THEN $1::uuid ELSE gen_random_uuid() END AS org, CASE WHEN n = 0 THEN $2::uuid ELSE gen_random_uuid() END AS project, n,
            CASE WHEN n = 0 THEN $3::integer ELSE 1 + n % 10 END AS size
     FROM generate_series(0, $4::integer) n`,
    orgId,
    projectId,
    size,
    organizations,
  );
  await ask(
    `CREATE TABLE public.things AS
     SELECT s.*, i, CASE WHEN s.n = 0 AND i = 1 THEN $1::uuid ELSE gen_random_uuid() END AS id
     FROM public.seeded s, generate_series(1, s.size) i ORDER BY random()`,
    reportId,
  );
  await ask(
    `INSERT INTO reports.reports (org_id, id, project_id, title, visibility, block_count, panel_count, panel_bytes, created_at, updated_at)
     SELECT org, id, CASE WHEN i % 10 = 0 THEN project END, 'report ' || i, CASE WHEN i % 2 = 0 THEN 'public' ELSE 'private' END, 1, 2, 22,
            now() - i * interval '1 second', now() - i * interval '1 second' FROM public.things`,
  );
  await ask(
    `INSERT INTO reports.documents (org_id, report_id, blocks, panels, panel_indexes)
     SELECT org, id, '[{"kind":"paragraph","text":"' || repeat(md5(id::text), 320) || '"}]', ARRAY['{"type":"a"}', '{"type":"b"}'], ARRAY[0, 1]
     FROM public.things`,
  );
  await ask(
    `INSERT INTO reports.report_counts (org_id, project_id, reports)
     SELECT org, '00000000-0000-0000-0000-000000000000', size FROM public.seeded
     UNION ALL SELECT org, project, size / 10 FROM public.seeded`,
  );
  await ask(
    `INSERT INTO reports.views (org_id, id, owner_user_id, name, payload, visibility, updated_at)
     SELECT org, gen_random_uuid(), gen_random_uuid(), 'v' || i, '{}', CASE WHEN i % 2 = 0 THEN 'organization' ELSE 'private' END, now() - i * interval '1 second' FROM public.things`,
  );
  await ask("DROP TABLE public.things, public.seeded");
  return { orgId, projectId, reportId };
}
