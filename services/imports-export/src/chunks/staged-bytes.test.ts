import { randomBytes, randomUUID } from "node:crypto";
import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createDb } from "@tidemark/pg";
import { createPlanGate, type PlanGate } from "@tidemark/requests";
import { parsePlans } from "@tidemark/limits";
import { create } from "@bufbuild/protobuf";
import { IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import { ImportsService } from "@tidemark/proto/imports/v1/imports";
import { RestoreService } from "@tidemark/proto/imports/v1/restore";
import { createLocalClient, implement } from "@tidemark/rpc";
import { createLog } from "@tidemark/telemetry";
import { importsHandlers } from "../handlers.ts";
import { callOf, newIdentity, startImports, type ImportsFixture } from "../imports.fixture.ts";
import { emptyChunks } from "../jobs/jobs.sql.ts";
import { removeArchive } from "../restore/archives.sql.ts";
import { restoreHandlers } from "../restore/restore-archive.ts";

const LIMIT = 10_000;
const exceeded = { reason: "plan_limit_exceeded" };

let imports: ImportsFixture;
let who: Identity;
let gate: PlanGate;
beforeAll(async () => {
  imports = await startImports();
});
afterAll(() => imports.close());

const stagedBytes = async (orgId: string): Promise<number> => {
  const [row] = await imports.ask<{ bytes: number }>(
    "SELECT staged_bytes AS bytes FROM imports.usage_v1 WHERE org_id = $1",
    orgId,
  );
  return row?.bytes ?? 0;
};
const heldBytes = async (orgId: string): Promise<number> => {
  const [row] = await imports.ask<{ bytes: number }>(
    `SELECT coalesce((SELECT sum(octet_length(content)) FROM imports.chunks WHERE org_id = $1), 0)::bigint
          + coalesce((SELECT sum(octet_length(content)) FROM imports.archive_pieces WHERE org_id = $1), 0)::bigint AS bytes`,
    orgId,
  );
  return row!.bytes;
};
const expectExact = async (orgId: string): Promise<number> => {
  const staged = await stagedBytes(orgId);
  expect(staged).toBe(await heldBytes(orgId));
  return staged;
};
/** The number of rows that a refused request might have left. */
const rowsOf = (orgId: string) =>
  imports.ask(
    `SELECT (SELECT count(*) FROM imports.jobs WHERE org_id = $1) AS jobs, (SELECT count(*) FROM imports.chunks WHERE org_id = $1) AS chunks,
            (SELECT count(*) FROM imports.job_runs WHERE org_id = $1) AS runs, (SELECT count(*) FROM imports.archives WHERE org_id = $1) AS archives,
            (SELECT count(*) FROM imports.archive_pieces WHERE org_id = $1) AS pieces, (SELECT count(*) FROM platform.outbox WHERE org_id = $1) AS messages`,
    orgId,
  );

beforeEach(() => {
  who = newIdentity();
  gate = createPlanGate({
    target: "storage",
    plans: parsePlans(`{"premium": {"included_storage_bytes": ${LIMIT}}}`),
    readUsed: stagedBytes,
    nowMs: () => performance.now(),
    log: createLog({ level: "error", service: "test" }),
  });
});
const jobs = () => {
  const handlers = importsHandlers({ db: imports.db, gate, readers: imports.readers, wakeRelay: () => {} });
  return createLocalClient(ImportsService, implement(ImportsService, handlers));
};
const archives = () =>
  createLocalClient(
    RestoreService,
    implement(RestoreService, restoreHandlers({ db: imports.db, gate, readers: imports.readers, begin: () => {} })),
  );
const newJob = async () => {
  const wish = { sourceType: "wandb", sourceProject: "", targetProject: "p" };
  return (await jobs().createJob(wish, callOf(who))).job!.id;
};
/** A config that is hard to pack, of about this many bytes in short texts. */
const noiseOf = (bytes: number) => ({
  noise: Array.from({ length: Math.ceil(bytes / 1000) }, () => randomBytes(500).toString("hex")),
});
/** A chunk of about this many bytes. */
const put = (id: number, sequence: number, bytes: number, as = who) => {
  const body = {
    schema_version: 2,
    source_type: "wandb",
    target_project: "p",
    job_id: id,
    chunk_id: `chunk-${sequence}`,
    sequence,
    runs: [{ source_run_id: "a", config: noiseOf(bytes) }],
  };
  return jobs().putChunk({ importId: String(id), body: Buffer.from(JSON.stringify(body)) }, callOf(as));
};
const AT = "2026-11-23T00:00:00Z";
const BEGIN = `{"type":"export","version":1,"product":"tidemark","exported_at":"${AT}","org_id":"${randomUUID()}","selection":{}}\n`;
const projectOf = (bytes: number): string =>
  `{"type":"project","id":"${randomUUID()}","name":"${"p".repeat(10)}","description":"${randomBytes(bytes / 2).toString("hex")}","created_at":"${AT}"}\n`;
const putPiece = (archiveId: string, number: number, text: string, isLast = false) =>
  archives().putPiece({ archiveId, number, firstLine: 1 + number, data: Buffer.from(text), isLast }, callOf(who));
const begin = async () => (await archives().beginArchive({ key: randomUUID() }, callOf(who))).archiveId;

describe("staged data", () => {
  test("is counted exactly, and no longer when it is emptied, cancelled or removed", async () => {
    const { orgId } = who;
    const [first, second] = [await newJob(), await newJob()];
    for (const id of [first, second]) for (const sequence of [0, 1]) await put(id, sequence, 1000);
    const all = await expectExact(orgId);
    expect(all).toBeGreaterThan(2000);
    await imports.db.withTenant(orgId, (tx) => emptyChunks(tx, orgId, first, { from: 0, to: 1 }));
    const less = await expectExact(orgId);
    expect(less).toBeLessThan(all);
    await jobs().cancelJob({ importId: String(first) }, callOf(who));
    const archiveId = await begin();
    await putPiece(archiveId, 0, BEGIN);
    // A part is also kept, until the whole piece arrives.
    await expect(putPiece(archiveId, 1, projectOf(400).slice(0, 100), true)).rejects.toMatchObject({
      reason: "archive_incomplete",
    });
    expect(await expectExact(orgId)).toBeGreaterThan(0);
    await imports.db.withTenant(orgId, (tx) => removeArchive(tx, { orgId, id: archiveId }));
    await jobs().cancelJob({ importId: String(second) }, callOf(who));
    expect(await expectExact(orgId)).toBe(0);
  });

  test("by simultaneous writers is counted exactly", async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, newJob));
    await Promise.all(ids.map((id) => put(id, 0, 100)));
    const staged = await expectExact(who.orgId);
    expect(staged).toBeGreaterThan(0);
    await Promise.all(ids.map((id) => jobs().cancelJob({ importId: String(id) }, callOf(who))));
    expect(await expectExact(who.orgId)).toBe(0);
  });

  test("is seen by the service of usage, of one organization at a time and as a sum alone", async () => {
    await put(await newJob(), 0, 1000);
    const usage = createDb({ url: imports.url, role: "tidemark_usage", application: "test", connectionsMax: 1 });
    const all = testSql("SELECT org_id, staged_bytes FROM imports.usage_v1");
    expect(await usage.readTenant(who.orgId, (tx) => tx.rows(all, []))).toEqual([
      { org_id: who.orgId, staged_bytes: await stagedBytes(who.orgId) },
    ]);
    expect(await usage.readTenant(randomUUID(), (tx) => tx.rows(all, []))).toEqual([]);
    for (const statement of [
      "SELECT content FROM imports.chunks",
      "SELECT id FROM imports.archives",
      "UPDATE imports.staged SET bytes = 0",
      "SELECT imports.add_staged(gen_random_uuid(), 1)",
    ]) {
      const denied = usage.withTenant(who.orgId, (tx) => tx.rows(testSql(statement), []));
      await expect(denied).rejects.toThrow(/permission denied/);
    }
    await usage.close();
  });
});

describe("the quota of storage", () => {
  test("refuses a chunk that does not fit, and leaves nothing of it; one that is there is answered", async () => {
    const id = await newJob();
    await put(id, 0, 0);
    const repeated = () => put(id, 0, 0);
    const before = await rowsOf(who.orgId);
    await expect(put(id, 1, 4 * LIMIT)).rejects.toMatchObject(exceeded);
    expect(await rowsOf(who.orgId)).toEqual(before);
    expect(await repeated()).toMatchObject({ duplicate: true });
    const unpaid = create(IdentitySchema, { ...who, billingState: "canceled" });
    await expect(put(id, 1, 0, unpaid)).rejects.toMatchObject({ reason: "payment_required" });
    expect(await put(id, 0, 0, unpaid)).toMatchObject({ duplicate: true });
    await put(id, 1, 0);
  });

  test("refuses a document that does not fit, and leaves nothing of it", async () => {
    const config = noiseOf(4 * LIMIT);
    const bodyJson = Buffer.from(JSON.stringify({ project: "p", runs: [{ id: "w", config, history: [{ loss: 1 }] }] }));
    const before = await rowsOf(who.orgId);
    await expect(jobs().importDocument({ source: "wandb", bodyJson }, callOf(who))).rejects.toMatchObject(exceeded);
    expect(await rowsOf(who.orgId)).toEqual(before);
    expect(await stagedBytes(who.orgId)).toBe(0);
  });

  test("is checked after the faults of a request", async () => {
    await expect(put(77, 0, 4 * LIMIT)).rejects.toMatchObject({ reason: "not_found" });
    const id = await newJob();
    await expect(put(id, 3, 4 * LIMIT)).rejects.toMatchObject({ reason: "conflict" });
  });

  test("refuses an archive at the piece that does not fit, and leaves nothing of it", async () => {
    const archiveId = await begin();
    await putPiece(archiveId, 0, BEGIN);
    // A repeat is answered without being counted.
    expect(await putPiece(archiveId, 0, BEGIN)).toMatchObject({ lines: 1 });
    await expect(putPiece(archiveId, 1, projectOf(4 * LIMIT))).rejects.toMatchObject({ reason: "archive_invalid" });
    const another = await begin();
    await putPiece(another, 0, BEGIN);
    const lines = Array.from({ length: 100 }, () => projectOf(400)).join("");
    await expect(putPiece(another, 1, lines)).rejects.toMatchObject(exceeded);
    expect(await rowsOf(who.orgId)).toMatchObject([{ archives: 0, pieces: 0 }]);
    expect(await expectExact(who.orgId)).toBe(0);
  });
});
