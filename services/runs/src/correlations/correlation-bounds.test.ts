import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { storedRun, storeRuns } from "../list/stored-runs.fixture.ts";
import { asOwner, callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { CORRELATED_RUNS_MAX } from "./correlate-runs.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

test("a filter may let 10,000 runs through, and no more", async () => {
  const call = callAs();
  const runs = Array.from({ length: CORRELATED_RUNS_MAX }, (_, n) => storedRun({ name: `run ${n}` }));
  await storeRuns(fixture, call.orgId, runs);
  const ask = () => fixture.client.correlateRuns({ metric: "loss", filter: {}, columns: ["config.lr"] }, call);
  expect((await ask()).runCount).toBe(CORRELATED_RUNS_MAX);
  await makeRun(fixture.client, call);
  expect(await failure(ask())).toMatchObject({ reason: "bad_request", field: "filter" });
});

test("runs may have 128 MiB of configs", async () => {
  const call = callAs();
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.push((await makeRun(fixture.client, call, { configJson: json("{}") })).id);
  await asOwner(fixture, `UPDATE runs.runs SET config = '{"x":"' || repeat('x', 50000000) || '"}' WHERE org_id = $1`, [
    call.orgId,
  ]);
  const ask = (request: object) => failure(fixture.client.correlateRuns({ metric: "loss", ...request }, call));
  expect(await ask({ filter: {} })).toMatchObject({ reason: "bad_request", field: "filter" });
  expect(await ask({ runIds: ids })).toMatchObject({ reason: "bad_request", field: "run_ids" });
});

test("numbers below a key that no column can have are left out, and cost no copy of it each", async () => {
  const call = callAs();
  const below = Array.from({ length: 20_000 }, (_, n) => `"${n}":${n}`).join(",");
  const config = `{"${"k".repeat(400_000)}":{${below}},"lr":1}`;
  const { id } = await makeRun(fixture.client, call, { configJson: json(config) });
  const { correlations } = await fixture.client.correlateRuns({ metric: "loss", runIds: [id] }, call);
  expect(correlations.map(({ column }) => column)).toEqual(["config.lr"]);
});
