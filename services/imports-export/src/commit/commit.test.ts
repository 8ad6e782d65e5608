import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import type { Identity } from "@tidemark/proto/common/v1/common";
import { callOf, newIdentity, startImports, type ImportsFixture } from "../imports.fixture.ts";
import { lockJob } from "../jobs/jobs.sql.ts";
import { listDueCommits } from "./commit.sql.ts";
import { clientsOf, nothingStored, type Stored } from "./clients.fixture.ts";
import { requestCommit } from "./commit-job.ts";
import { runCommit } from "./committer.ts";

let fixture: ImportsFixture;
beforeAll(async () => {
  fixture = await startImports();
});
afterAll(() => fixture.close());

const CHUNKS = 2;
const log = { info: () => {}, warn: () => {} };

/** Stages a job and begins its commit, without a process that works on it. The runs of all jobs are the same. */
async function beginCommit(identity: Identity): Promise<{ orgId: string; id: number }> {
  const { client } = fixture;
  const call = callOf(identity);
  const insert = "INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, 'p') ON CONFLICT DO NOTHING";
  await fixture.ask(insert, identity.orgId, nothingStored().projectId);
  const wish = { sourceType: "wandb", sourceProject: "s", targetProject: "p" };
  const { job } = await client.createJob(wish, call);
  const id = job!.id;
  for (let sequence = 0; sequence < CHUNKS; sequence++) {
    const run = { source_run_id: `r${sequence}` };
    const body = {
      schema_version: 2,
      job_id: id,
      source_type: "wandb",
      source_project: "s",
      target_project: "p",
      chunk_id: `c${sequence}`,
      sequence,
      final: sequence === CHUNKS - 1,
      runs: [run],
      metric_points: [0, 1, 2].map((step) => ({ ...run, key: "k", step, value: step })),
      attributes: [{ ...run, path: "p", type: "tag", value: 1 }],
      artifact_refs: [{ ...run, name: "a" }],
    };
    await client.putChunk({ importId: String(id), body: Buffer.from(JSON.stringify(body)) }, call);
  }
  const name = { orgId: identity.orgId, id };
  await fixture.db.withTenant(name.orgId, async (tx) =>
    requestCommit(tx, (await lockJob(tx, name.orgId, id))!, identity),
  );
  return name;
}

const jobOf = async (identity: Identity, id: number) =>
  (await fixture.client.getJob({ importId: String(id) }, callOf(identity))).job!;

/** A process that works on a commit, and dies at a step of its calls. */
async function runProcess(
  name: { orgId: string; id: number },
  stored: Stored,
  dies: (step: number) => boolean = () => false,
): Promise<number> {
  let steps = 0;
  let isDead = false;
  const clients = clientsOf(stored, () => {
    steps += 1;
    if (isDead || !dies(steps)) return Promise.resolve();
    isDead = true;
    return Promise.reject(new AppError("service_unavailable", "the process is dead"));
  });
  await runCommit({ db: fixture.db, clients, newId: randomUUID, newCall: callOf, log }, name, () => isDead);
  return steps;
}

function expectWhole(stored: Stored): void {
  expect([...stored.runs.values()].toSorted()).toEqual(["r0", "r1"]);
  expect([...stored.points.values()].map(({ count }) => count)).toEqual([3, 3]);
  expect(new Set([...stored.points.values()].map(({ runId }) => runId))).toEqual(new Set(stored.runs.keys()));
  expect([...stored.attributes.values()]).toEqual([1, 1]);
  expect([...stored.artifacts.values()]).toEqual([1, 1]);
}

const counts = { runs: 2, metrics: 6, attributes: 2, artifacts: 2, skippedRuns: 0, updatedRuns: 0 };

test("a commit whose process dies at any step is gone on with by another one, and stores everything once", async () => {
  const whole = nothingStored();
  const first = newIdentity();
  const steps = await runProcess(await beginCommit(first), whole);
  expectWhole(whole);
  expect(steps).toBeGreaterThan(15);
  for (let step = 1; step <= steps; step++) {
    const identity = newIdentity();
    const name = await beginCommit(identity);
    const stored = nothingStored();
    await runProcess(name, stored, (at) => at === step);
    expect((await jobOf(identity, name.id)).status).toBe("committing");
    await runProcess(name, stored);
    expectWhole(stored);
    expect(await jobOf(identity, name.id)).toMatchObject({
      status: "committed",
      counts,
      batchesDone: 2 * CHUNKS,
      runIds: [...stored.runs.keys()],
    });
  }
});

test("processes that die at their fifth step, one after another, spoil nothing", async () => {
  const identity = newIdentity();
  const name = await beginCommit(identity);
  const stored = nothingStored();
  for (let life = 0; life < 40; life++) await runProcess(name, stored, (at) => at === 5);
  await runProcess(name, stored);
  expectWhole(stored);
  expect(await jobOf(identity, name.id)).toMatchObject({ status: "committed", counts });
});

test("a former holder of the lease marks nothing and stores nothing twice", async () => {
  const identity = newIdentity();
  const name = await beginCommit(identity);
  const stored = nothingStored();
  let resume = (): void => {};
  const paused = new Promise<void>((resolve) => (resume = resolve));
  let steps = 0;
  let reached = (): void => {};
  const atPause = new Promise<void>((resolve) => (reached = resolve));
  const clients = clientsOf(stored, async () => {
    steps += 1;
    if (steps !== 9) return;
    reached();
    await paused;
  });
  const slow = runCommit({ db: fixture.db, clients, newId: randomUUID, newCall: callOf, log }, name, () => false);
  await atPause;
  await runProcess(name, stored);
  expect((await jobOf(identity, name.id)).batchesDone).toBeLessThan(2 * CHUNKS);
  await fixture.ask("UPDATE imports.jobs SET leased_until = '-infinity' WHERE org_id = $1", name.orgId);
  await runProcess(name, stored);
  const done = await jobOf(identity, name.id);
  expect(done).toMatchObject({ status: "committed", counts });
  resume();
  await slow;
  expectWhole(stored);
  expect(await jobOf(identity, name.id)).toEqual(done);
});

test("a commit that a service refuses has failed, keeps the reason, and continues when it is requested again", async () => {
  const identity = newIdentity();
  const name = await beginCommit(identity);
  const stored = nothingStored();
  let refuses = true;
  const clients = clientsOf(stored, () =>
    refuses && stored.runs.size === 2
      ? Promise.reject(new AppError("plan_limit_exceeded", "the plan is full"))
      : Promise.resolve(),
  );
  const deps = { db: fixture.db, clients, newId: randomUUID, newCall: callOf, log };
  await runCommit(deps, name, () => false);
  expect(await jobOf(identity, name.id)).toMatchObject({
    status: "failed",
    errorCode: "plan_limit_exceeded",
    errorMessage: "the plan is full",
  });
  refuses = false;
  const commit = fixture.client.commitJob({ importId: String(name.id) }, callOf(identity));
  for (let status = "failed"; status === "failed";) status = (await jobOf(identity, name.id)).status;
  await runCommit(deps, name, () => false);
  expect((await commit).job).toMatchObject({ status: "committed", counts });
  expectWhole(stored);
});

test("staged data is removed when the job ends, and other organizations' jobs are not found", async () => {
  const identity = newIdentity();
  const name = await beginCommit(identity);
  await runProcess(name, nothingStored());
  const rows = await fixture.ask<{ content: unknown }>(
    "SELECT content FROM imports.chunks WHERE org_id = $1",
    name.orgId,
  );
  expect(rows).toEqual([{ content: null }, { content: null }]);
  await expect(jobOf(newIdentity(), name.id)).rejects.toMatchObject({ reason: "not_found" });
});

/** Works on a commit like a process; false: it did not get its turn, or did not end. */
const work = (name: { orgId: string; id: number }, clients = clientsOf(nothingStored(), () => Promise.resolve())) =>
  runCommit({ db: fixture.db, clients, newId: randomUUID, newCall: callOf, log }, name, () => false);

test("a commit waits for those of its organization that were requested before, and for none of others", async () => {
  const identity = newIdentity();
  const names = [];
  for (let i = 0; i < 3; i++) names.push(await beginCommit(identity));
  const [first, second, third] = names as [(typeof names)[0], (typeof names)[0], (typeof names)[0]];
  expect(await work(third)).toBe(false);
  expect(await work(second)).toBe(false);
  expect(await work(await beginCommit(newIdentity()))).toBe(true);
  const refused = clientsOf(nothingStored(), () => Promise.reject(new AppError("plan_limit_exceeded", "full")));
  expect(await work(first, refused)).toBe(true);
  expect(await work(third)).toBe(false);
  expect(await work(second)).toBe(true);
  expect(await work(third)).toBe(true);
  const statuses = await Promise.all(names.map(async ({ id }) => (await jobOf(identity, id)).status));
  expect(statuses).toEqual(["failed", "committed", "committed"]);
});

test("commits are due in the order in which they became the next of their organizations", async () => {
  const [busy, other] = [newIdentity(), newIdentity()];
  const first = await beginCommit(busy);
  const second = await beginCommit(busy);
  const third = await beginCommit(other);
  const due = async () => {
    const rows = await listDueCommits(fixture.workerDb, 100);
    return rows.filter(({ orgId }) => [busy.orgId, other.orgId].includes(orgId));
  };
  expect(await due()).toEqual([first, third]);
  expect(await work(first)).toBe(true);
  expect(await due()).toEqual([third, second]);
  await work(third);
  await work(second);
});

test("a commit that is requested again while it waits or runs is awaited", async () => {
  const identity = newIdentity();
  const name = await beginCommit(identity);
  const call = () => fixture.client.commitJob({ importId: String(name.id) }, callOf(identity));
  const answers = Promise.all([call(), call()]);
  await work(name);
  const [one, two] = await answers;
  expect(one).toEqual(two);
  expect(one.job).toMatchObject({ status: "committed", counts });
});
