import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

type Call = ReturnType<typeof callAs>;

const forkOf = async (call: Call, runId: string, step?: number): Promise<string> => {
  const { run } = await fixture.client.forkRun({ runId, ...(step === undefined ? {} : { step }) }, call);
  return run?.run?.id ?? "";
};
const chainsOf = async (call: Call, runIds: string[], withAncestors: boolean) =>
  (await fixture.client.listRunOrigins({ runIds, withAncestors }, call)).chains.map(({ runs }) =>
    runs.map(({ runId, forkedFromStep }) => [runId, forkedFromStep]),
  );

test("runs have the runs they were forked from, the nearest first, on request", async () => {
  const call = callAs();
  const top = await makeRun(fixture.client, call);
  const child = await forkOf(call, top.id, 7.5);
  const grandchild = await forkOf(call, child, 3);
  const all = [grandchild, top.id, child];
  expect(await chainsOf(call, all, true)).toEqual([
    [
      [grandchild, 3],
      [child, 7.5],
      [top.id, undefined],
    ],
    [[top.id, undefined]],
    [
      [child, 7.5],
      [top.id, undefined],
    ],
  ]);
  expect(await chainsOf(call, all, false)).toEqual(all.map((id) => [[id, undefined]]));
});

test("a chain ends at a fork without a step, and at what the caller cannot see", async () => {
  const call = callAs();
  const top = await makeRun(fixture.client, call);
  const unknown = await forkOf(call, top.id);
  expect(await chainsOf(call, [unknown], true)).toEqual([[[unknown, undefined]]]);
  const child = await forkOf(call, top.id, 1);
  await asOwner(fixture, "UPDATE runs.runs SET hidden = true, deleted_at = now(), purge_after = now() WHERE id = $1", [
    top.id,
  ]);
  expect(await chainsOf(call, [child], true)).toEqual([[[child, undefined]]]);
});

test("runs say when they started, in microseconds", async () => {
  const call = callAs();
  const run = await makeRun(fixture.client, call);
  await asOwner(fixture, "UPDATE runs.runs SET started_at = '2026-03-01T10:00:00.123456Z' WHERE id = $1", [run.id]);
  const { chains } = await fixture.client.listRunOrigins({ runIds: [run.id] }, call);
  expect(chains[0]!.runs[0]!.startedUs).toBe(Date.parse("2026-03-01T10:00:00Z") * 1000 + 123_456);
});

test("one run that the caller cannot see is not found", async () => {
  const call = callAs();
  const run = await makeRun(fixture.client, call);
  for (const other of [randomUUID(), (await makeRun(fixture.client, callAs())).id]) {
    const refusal = await failure(fixture.client.listRunOrigins({ runIds: [run.id, other] }, call));
    expect(refusal).toMatchObject({ reason: "not_found", message: "run not found" });
  }
});
