import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Db } from "@tidemark/pg";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";
import { pointOf } from "./stored-run.fixture.ts";

let ingest: IngestFixture;
let runsDb: Db;
let tenant: Tenant;
let projectIds: string[];
beforeAll(async () => {
  ingest = await startIngest();
  runsDb = ingest.poolOf("tidemark_runs");
  tenant = await ingest.newTenant();
  projectIds = [tenant.projectId, await ingest.newProject(tenant.orgId), await ingest.newProject(tenant.orgId)];
});
afterAll(() => ingest.close());

// A run has a row, of no points, before its first points are stored; its project has none until then.
const totals = testSql(
  "SELECT project_id AS id, points FROM ingest.project_points_v1 WHERE org_id = $1 AND points > 0 ORDER BY project_id",
);
const counted = testSql(`SELECT r.project_id AS id, sum(p.points)::bigint AS points
   FROM runs.runs r JOIN ingest.run_points_v1 p ON p.org_id = r.org_id AND p.run_id = r.id
   WHERE r.org_id = $1 GROUP BY 1 HAVING sum(p.points) > 0 ORDER BY 1`);
type Total = { readonly id: string; readonly points: number };

/** Returns the numbers from the counters and from the runs, as of one moment. */
const read = () =>
  runsDb.readTenant(tenant.orgId, async (tx) => ({
    totals: await tx.rows<Total>(totals, [tenant.orgId]),
    counted: await tx.rows<Total>(counted, [tenant.orgId]),
  }));

test("the totals of projects are those of their runs at every moment, while several processes write them", async () => {
  const writers = [ingest.writer(), ingest.writer(), ingest.writer(undefined, { cacheBytes: 4096 })];
  // Several runs of a project, and runs of several projects, are in a group.
  const runs = await Promise.all(Array.from({ length: 9 }, (_, i) => ingest.newRun(tenant, projectIds[i % 3])));
  let isWriting = true;
  const reading = (async () => {
    let different = 0;
    for (let last = ""; isWriting || different < 2;) {
      const seen = await read();
      expect(seen.totals).toEqual(seen.counted);
      const now = JSON.stringify(seen.totals);
      if (now !== last) different += 1;
      last = now;
    }
    return different;
  })();
  await Promise.all(
    writers.map(async (writer, w) => {
      for (let round = 0; round < 15; round++) {
        await Promise.all(
          runs.map((runId, i) =>
            (w + i) % 3 === 0
              ? writer.appendMetrics(pointOf(runId, round), callOf(tenant))
              : writer.appendMetrics(
                  { runId, columns: columnsOf([round, { a: i, b: w }], [round + 1, { a: i }]) },
                  callOf(tenant),
                ),
          ),
        );
      }
    }),
  );
  isWriting = false;
  expect(await reading).toBeGreaterThan(5);
  // Three writers, fifteen rounds: in each a third of the runs gets one value, the others three.
  const end = await read();
  expect(end.totals).toEqual(end.counted);
  expect(end.totals.reduce((sum, { points }) => sum + points, 0)).toBe(3 * 15 * (3 * 1 + 6 * 3));
});

test("a write does not wait for another group of its project", async () => {
  const [held, free] = await Promise.all([ingest.newRun(tenant), ingest.newRun(tenant)]);
  // A different counter from the one that the next group takes.
  const writer = ingest.writer(undefined, { random: () => 0 });
  const lock = testSql("UPDATE ingest.project_points SET points = points WHERE project_id = $1 AND slot <> 1");
  await ingest.writer(undefined, { random: () => 0.5 }).appendMetrics(pointOf(held), callOf(tenant));
  await ingest.owner.transaction(async (tx) => {
    expect(await tx.count(lock, [tenant.projectId])).toBeGreaterThan(0);
    await writer.appendMetrics(pointOf(free), callOf(tenant));
  });
  const seen = await read();
  expect(seen.totals).toEqual(seen.counted);
});
