import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { asOwner, callAs, json, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const N = 20;

type Result = PromiseSettledResult<{ created: boolean }>;
const createdOf = (results: Result[]) => results.filter((r) => r.status === "fulfilled" && r.value.created).length;
const reasonsOf = (results: Result[]): string[] =>
  results.flatMap((r) => (r.status === "rejected" ? [(r.reason as { reason: string }).reason] : []));

async function race(request: (i: number) => Promise<{ created: boolean }>): Promise<Result[]> {
  return Promise.allSettled(Array.from({ length: N }, (_, i) => request(i)));
}

async function countersAndRows(orgId: string): Promise<unknown> {
  const rows = await asOwner(
    fixture,
    `SELECT p.runs_running::integer AS counted, count(r.id)::integer AS runs
     FROM runs.projects p LEFT JOIN runs.runs r ON r.org_id = p.org_id AND r.project_id = p.id
     WHERE p.org_id = $1 GROUP BY p.id, p.runs_running`,
    [orgId],
  );
  return rows;
}

test.each(["create", "auto"])(
  "20 simultaneous requests by %s with one id and payload all succeed, one creates",
  async (mode) => {
    const call = callAs();
    const id = randomUUID();
    const results = await race(() => fixture.client.createRun({ id, mode, configJson: json('{"a":1}') }, call));
    expect(reasonsOf(results)).toEqual([]);
    expect(createdOf(results)).toBe(1);
    expect(await countersAndRows(call.orgId)).toEqual([{ counted: 1, runs: 1 }]);
  },
);

test("20 creates of one id with two payloads: one creates, its equals replay, the others conflict", async () => {
  const call = callAs();
  const id = randomUUID();
  const results = await race((i) => fixture.client.createRun({ id, configJson: json(`{"a":${i % 2}}`) }, call));
  expect(createdOf(results)).toBe(1);
  expect(reasonsOf(results)).toEqual(Array<string>(N / 2).fill("run_id_conflict"));
});

test("simultaneous create and auto with one id: one creates, none fails", async () => {
  const call = callAs();
  const id = randomUUID();
  const results = await race((i) => fixture.client.createRun({ id, mode: i % 2 === 0 ? "auto" : "create" }, call));
  expect(reasonsOf(results)).toEqual([]);
  expect(createdOf(results)).toBe(1);
});

test("two organizations race for one id: one has it, the other gets 404 on every attempt", async () => {
  const calls = [callAs(), callAs()] as const;
  const id = randomUUID();
  const results = await race((i) => fixture.client.createRun({ id }, calls[i % 2 === 0 ? 0 : 1]));
  expect(createdOf(results)).toBe(1);
  expect(reasonsOf(results)).toEqual(Array<string>(N / 2).fill("run_not_found"));
  const owners = await asOwner<{ org_id: string }>(fixture, "SELECT org_id FROM runs.runs WHERE id = $1", [id]);
  expect(owners).toHaveLength(1);
  expect(await asOwner(fixture, "SELECT org_id FROM runs.run_ids WHERE id = $1", [id])).toEqual(owners);
});

test("an id whose creation was refused stays free for the other organization", async () => {
  const id = randomUUID();
  const unpaid = callAs({ billingState: "canceled" });
  const refused = await Promise.allSettled([fixture.client.createRun({ id }, unpaid)]);
  expect(reasonsOf(refused)).toEqual(["payment_required"]);
  expect((await fixture.client.createRun({ id }, callAs())).created).toBe(true);
});

test("20 simultaneous nameless runs in a new project get one project and the numbers 1 to 20", async () => {
  const call = callAs();
  const runs = await Promise.all(Array.from({ length: N }, () => fixture.client.createRun({ project: "p" }, call)));
  const numbers = runs.map(({ run }) => Number(run?.name.split("-")[2])).toSorted((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: N }, (_, i) => i + 1));
  expect(await countersAndRows(call.orgId)).toEqual([{ counted: N, runs: N }]);
});

test("20 simultaneous resumes of a finished run count as one", async () => {
  const call = callAs();
  const id = randomUUID();
  await fixture.client.createRun({ id }, call);
  await fixture.client.updateRun({ runId: id, status: "failed" }, call);
  const results = await race(() => fixture.client.createRun({ id, mode: "resume" }, call));
  expect(reasonsOf(results)).toEqual([]);
  const { run } = await fixture.client.getRun({ runId: id, metricLimit: 1 }, call);
  expect(run?.run).toMatchObject({ status: "running", resumeCount: 1 });
  expect(run?.run?.lifecycle).toHaveLength(1);
  expect(await countersAndRows(call.orgId)).toEqual([{ counted: 1, runs: 1 }]);
});
