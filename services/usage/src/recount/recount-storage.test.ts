import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { startUsage, type UsageFixture } from "../usage.fixture.ts";
import { driftsOf } from "../document/storage.rules.ts";
import { recountStorage, type OrganizationDrift } from "./recount-storage.ts";

let fixture: UsageFixture;
beforeAll(async () => {
  fixture = await startUsage();
});
afterAll(() => fixture.close());

/** Stores some rows of each kind for a new organization; one of its runs is deleted. */
async function newOrganization(): Promise<string> {
  const [orgId, projectId, runId, hiddenId, reportId] = Array.from({ length: 5 }, () => randomUUID()) as [
    string,
    ...string[],
  ];
  const ask = (statement: string, ...values: unknown[]) => fixture.ask(statement, orgId, ...values);
  await ask(
    "INSERT INTO control.organizations (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit) VALUES ($1, $1::uuid::text, 'x', 'free', 'free_active', 'business', 2)",
  );
  await ask("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, 'größe')", projectId);
  await ask(
    `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, hidden, deleted_at, purge_after)
     SELECT $1, r.id, $3, 'run', 'running', '{"é":1}', '{a}', '{}', now(), now(), r.gone IS NOT NULL, r.gone, r.gone
     FROM (VALUES ($2::uuid, NULL::timestamptz), ($4, now())) AS r (id, gone)`,
    runId,
    projectId,
    hiddenId,
  );
  await ask("INSERT INTO runs.readmes (org_id, run_id, markdown) VALUES ($1, $2, 'readme')", runId);
  await ask(
    `INSERT INTO ingest.attributes (org_id, id, run_id, path, type, logged_at, value, summary, created_at)
     VALUES ($1, 1, $2, 'p', 'config', now(), '"é"', '{}', now())`,
    runId,
  );
  await ask(
    `INSERT INTO ingest.log_segments (org_id, run_id, id, received_us, first_line, last_line, message_bytes, lines, stream, block)
     VALUES ($1, $2, 64, 0, 1, 2, 30, 2, 'stdout', '')`,
    runId,
  );
  await ask(
    `INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, value, metadata, summary, bytes, created_at)
     VALUES ($1, 2, $2, $3, 'k', 'table', false, '{}', '{}', '{}', 7, now()), ($1, 3, $2, $3, 'k', 'text', true, NULL, NULL, NULL, 99, now())`,
    runId,
    projectId,
  );
  await ask("INSERT INTO ingest.table_chunks (org_id, object_id, chunk, rows, bytes) VALUES ($1, 2, 0, '', 50)");
  await ask(
    "INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count) VALUES ($1, $2, 1, 2, 10)",
    runId,
  );
  await ask(
    "INSERT INTO ingest.project_points (org_id, project_id, slot, points, series, month, month_points) VALUES ($1, $2, 0, 10, 2, '2026-01-01', 10)",
    projectId,
  );
  // A row of a set, and one of a page with a slot that has no value.
  await ask(
    `INSERT INTO ingest.rank_metric_rows (org_id, run_id, step, received_us, set_id, arrival, rank, first_slot, packed)
     VALUES ($1, $2, 1, 0, 0, 0, 0, 0, $3), ($1, $2, 1, 0, 1, 5, 0, 2, $4)`,
    runId,
    Buffer.alloc(24),
    Buffer.concat([Buffer.alloc(8), Buffer.from("7ff8000000000000", "hex"), Buffer.alloc(8)]),
  );
  await ask(
    "INSERT INTO ingest.rank_points (org_id, slot, points, month, month_points) VALUES ($1, 1, 5, '2026-01-01', 5)",
  );
  await ask(
    "INSERT INTO traces.segments (org_id, trace_id, run_id, id, tree, payloads, bytes) VALUES ($1, $2, $2, 1, '', '', 70)",
    runId,
  );
  await ask(
    `INSERT INTO reports.reports (org_id, id, title, visibility, block_count, panel_count, panel_bytes) VALUES ($1, $2, 'title', 'org', 0, 0, 0)`,
    reportId,
  );
  await ask(
    "INSERT INTO reports.documents (org_id, report_id, blocks, panels, panel_indexes) VALUES ($1, $2, '[]', '{}', '{}')",
    reportId,
  );
  await ask("INSERT INTO artifacts.storage (org_id, slot) VALUES ($1, 0)");
  return orgId;
}

/** Returns what the recount finds of some organizations. */
async function recount(of: readonly string[], repair = false): Promise<OrganizationDrift[]> {
  const drifts: OrganizationDrift[] = [];
  for await (const drift of recountStorage(fixture, { repair })) if (of.includes(drift.orgId)) drifts.push(drift);
  return drifts;
}

describe("the recount", () => {
  let own: string;
  let other: string;
  beforeEach(async () => {
    own = await newOrganization();
    other = await newOrganization();
  });

  test("agrees with what triggers have counted, and sees deleted rows", async () => {
    expect(await recount([own, other])).toEqual([]);
    const [row] = await fixture.ask<{ bytes: number }>(
      "SELECT sum(bytes)::float8 AS bytes FROM platform.stored_bytes WHERE org_id = $1 AND kind = 'documents'",
      own,
    );
    expect(row!.bytes).toBe(Buffer.byteLength("größe") + 2 * ("run".length + Buffer.byteLength('{"é":1}{}a')) + 6);
  });

  test("finds a drift of each kind, repairs it, and leaves other organizations alone", async () => {
    const kinds = ["artifacts", "points", "logs", "attributes", "objects", "documents", "traces", "reports"];
    for (const [i, kind] of kinds.entries()) {
      await fixture.ask("SELECT platform.add_stored($1, $2, $3)", own, kind, (i % 2 === 0 ? 1 : -1) * (i + 1));
    }
    const found = await recount([own, other]);
    expect(found.map(({ orgId, kind, counted, stored }) => [orgId, kind, counted - stored])).toEqual(
      kinds.map((kind, i) => [own, kind, (i % 2 === 0 ? 1 : -1) * (i + 1)]),
    );
    expect(found.find(({ kind }) => kind === "points")).toMatchObject({ stored: 15 * 16 + 2 * 256 });
    expect(await recount([own], true)).toEqual(found);
    expect(await recount([own, other])).toEqual([]);
  });

  test("finds counters that are gone, or that were changed past the rows", async () => {
    await fixture.ask("DELETE FROM platform.stored_bytes WHERE org_id = $1", own);
    await fixture.ask("UPDATE ingest.project_points SET points = points + 3 WHERE org_id = $1", own);
    await fixture.ask("UPDATE artifacts.storage SET artifact_bytes = 5 WHERE org_id = $1", own);
    const found = await recount([own], true);
    expect(found.map(({ kind, counted, stored }) => [kind, counted, stored])).toEqual([
      ["artifacts", 5, 0],
      ["points", 18 * 16 + 512, 15 * 16 + 512],
      ["logs", 0, 62],
      ["attributes", 0, 1 + 4 + 2],
      ["objects", 0, 57],
      ["documents", 0, expect.any(Number)],
      ["traces", 0, 70],
      ["reports", 0, 7],
    ]);
    expect(await recount([own])).toEqual([]);
  });

  test("repairs by the difference, so that what is written meanwhile stays counted", async () => {
    await fixture.ask("SELECT platform.add_stored($1, 'logs', 1000)", own);
    const recounting = recountStorage(fixture, { repair: true });
    const writing = (async () => {
      for (let i = 1; i <= 40; i += 1) {
        await fixture.ask(
          `INSERT INTO ingest.log_segments (org_id, run_id, id, received_us, first_line, last_line, message_bytes, lines, stream, block)
           VALUES ($1, $1, $2, 0, 1, 1, 100, 1, 'stdout', '')`,
          own,
          64 * (i + 1),
        );
      }
    })();
    for await (const _drift of recounting);
    await writing;
    expect(await recount([own])).toEqual([]);
  });
});

test("absent values count as zero", () => {
  expect(driftsOf({}, {})).toEqual([]);
  expect(driftsOf({ values: 2, logs: 1 }, { series: 1, logs: 1 })).toEqual([
    { kind: "points", counted: 32, stored: 256 },
  ]);
});
