import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { Quota } from "@tidemark/proto/usage/v1/usage";
import { callOf, startUsage, type UsageFixture } from "../usage.fixture.ts";

let fixture: UsageFixture;
let orgId: string;
beforeAll(async () => {
  fixture = await startUsage();
});
afterAll(() => fixture.close());

const thisMonth = "date_trunc('month', now() AT TIME ZONE 'UTC')::date";

/** Fills the counters of an organization, in several of their slots. */
async function fill(of: string): Promise<void> {
  const project = randomUUID();
  await fixture.ask(
    "INSERT INTO control.organizations (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit) VALUES ($1, $2, $2, 'free', 'free_active', 'business', 2)",
    of,
    `org-${of}`,
  );
  await fixture.ask(
    "INSERT INTO runs.projects (org_id, id, name, runs_running, runs_finished) VALUES ($1, $2, 'one', 2, 5)",
    of,
    project,
  );
  await fixture.ask(
    `INSERT INTO ingest.project_points (org_id, project_id, slot, points, series, month, month_points)
     VALUES ($1, $2, 0, 100, 4, ${thisMonth}, 60), ($1, $2, 1, 50, 2, '2020-01-01', 50)`,
    of,
    project,
  );
  await fixture.ask(
    `INSERT INTO ingest.rank_points (org_id, slot, points, month, month_points) VALUES ($1, 3, 7, ${thisMonth}, 7)`,
    of,
  );
  await fixture.ask(
    `INSERT INTO traces.event_counts (org_id, slot, events, month, month_events)
     VALUES ($1, 0, 9, ${thisMonth}, 9), ($1, 1, 5, '2020-01-01', 5)`,
    of,
  );
  await fixture.ask(
    `INSERT INTO artifacts.storage (org_id, slot, artifact_bytes, version_bytes, pending_delete_bytes, reserved_bytes, artifacts, versions_active)
     VALUES ($1, 0, 1000, 200, 30, 4, 3, 2), ($1, 1, -100, 0, 0, 0, -1, 0)`,
    of,
  );
  await fixture.ask("INSERT INTO imports.staged (org_id, slot, bytes) VALUES ($1, 2, 17)", of);
  await fixture.ask(
    `INSERT INTO platform.stored_bytes (org_id, kind, slot, bytes)
     VALUES ($1, 'attributes', 0, 95000000), ($1, 'attributes', 1, -1000), ($1, 'logs', 0, 21)`,
    of,
  );
  await fixture.ask("INSERT INTO usage.month_requests VALUES ($1, '2026-04-01', 400), ($1, '2026-03-01', 9)", of);
}
const at = (now: string) => fixture.newProcess({ now: () => new Date(now) });

beforeEach(async () => {
  orgId = randomUUID();
  await fill(orgId);
  await fill(randomUUID());
});

describe("the document", () => {
  test("adds up what all services have of the caller's organization", async () => {
    const usage = await at("2026-04-11T00:00:00Z").getUsage({}, callOf(orgId));
    const estimated = 512 + 7 * 1024 + 6 * 256 + 2 * 512;
    expect(usage).toMatchObject({
      orgSlug: `org-${orgId}`,
      planTier: "free",
      generatedAt: "2026-04-11T00:00:00.000Z",
      periodStartsAt: "2026-04-01T00:00:00.000Z",
      periodEndsAt: "2026-05-01T00:00:00.000Z",
      enforced: true,
      numbers: {
        projects: 1n,
        runs: 7n,
        metricPoints: 67n,
        metricPointsTotal: 157n,
        metricSeries: 6n,
        traceEvents: 9n,
        apiRequests: 400n,
        rawArtifacts: 2n,
        artifacts: 4n,
        artifactBytes: 900n,
        versionBytesActive: 200n,
        versionBytesPendingDelete: 30n,
        versionBytesReserved: 4n,
        stagedImportBytes: 17n,
        estimatedMetadataBytes: BigInt(estimated),
        storageBytes: BigInt(900 + 200 + 30 + 4 + 17 + estimated + 157 * 16 + 94_999_000 + 21 + 3),
        storageByKind: {
          artifacts: BigInt(900 + 200 + 30 + 4 + 2 * 512),
          points: BigInt(157 * 16 + 6 * 256),
          logs: 21n,
          attributes: 94_999_000n,
          objects: 0n,
          // The name of the project.
          documents: BigInt(17 + 512 + 7 * 1024 + 3),
          traces: 0n,
          reports: 0n,
        },
      },
      warnings: [],
    });
    expect(usage.forecasts.find(({ target }) => target === "api_requests")).toMatchObject({
      projected: 1200n,
      usedUpOn: "",
    });
  });

  test("of the next month begins with no requests", async () => {
    const usage = await at("2026-05-01T00:00:00Z").getUsage({}, callOf(orgId));
    expect(usage.numbers?.apiRequests).toBe(0n);
  });

  test("of an organization that no service knows is empty", async () => {
    const { numbers } = await at("2026-04-11T00:00:00Z").getUsage({}, callOf(randomUUID()));
    expect([numbers?.runs, numbers?.metricPoints, numbers?.storageBytes]).toEqual([0n, 0n, 0n]);
  });

  test("is not for keys of one project", async () => {
    const asked = fixture.client.getUsage({}, callOf(orgId, { projectId: randomUUID() }));
    await expect(asked).rejects.toMatchObject({ reason: "forbidden" });
  });
});

test.each([
  [Quota.METRIC_POINTS, 67n],
  [Quota.TRACE_EVENTS, 9n],
])("the use of quota %s", async (quota, used) => {
  expect((await fixture.client.getQuotaUse({ quota }, callOf(orgId))).used).toBe(used);
});

test("the use of storage is that of the document", async () => {
  const { numbers } = await fixture.client.getUsage({}, callOf(orgId));
  expect((await fixture.client.getQuotaUse({ quota: Quota.STORAGE }, callOf(orgId))).used).toBe(numbers?.storageBytes);
});

test("an unknown quota is refused", async () => {
  const asked = fixture.client.getQuotaUse({ quota: Quota.UNSPECIFIED }, callOf(orgId));
  await expect(asked).rejects.toMatchObject({ reason: "bad_request" });
});
