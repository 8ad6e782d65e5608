import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { startOwnPostgres, type OwnPostgres } from "../stack/server.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { exportLastRelease, type ReleaseTree } from "./last-release.ts";

// During a rollout processes of the last release go on over the schema that the new version made of theirs.

let release: ReleaseTree;
let postgres: OwnPostgres;
let current: OwnStack;
let old: Awaited<ReturnType<ReleaseTree["start"]>>;

beforeAll(async () => {
  [release, postgres] = await Promise.all([exportLastRelease(), startOwnPostgres()]);
  if (release.isRelease) await release.migrate(postgres.url);
  // Migrates first, which fails when a file of the release was changed.
  current = await startStack("embedded", { databaseUrl: postgres.url });
  old = await release.start(postgres.url);
});
afterAll(async () => {
  await old?.stop();
  await current?.stop();
  await postgres?.end();
  await release?.remove();
});

const steps = Array.from({ length: 20 }, (_, step) => step);

test("both versions write over the new schema, and each reads what the other wrote", async () => {
  const { key, api } = await old.stack.organization();
  const versions = [api, current.api.as(key)];
  await until("the key to be known", async () => (await current.api.as(key).get("/projects")).status === 200);
  for (const [n, writer] of versions.entries()) {
    // Both have just begun; a busy machine makes the first request late.
    const { id } = await until("a run", async () => (await writer.post("/runs", {})).json?.run);
    const points = steps.map((step) => ({ step, metrics: { loss: 1 / (step + 1) } }));
    const lines = [{ line_number: 1, message: `a line of version ${n}` }];
    expect((await writer.post(`/runs/${id}/metrics/batch`, { points })).json).toMatchObject({ inserted: 20 });
    expect((await writer.post(`/api/runs/${id}/logs`, { lines })).status).toBe(200);
    expect((await writer.post(`/api/runs/${id}/stop`, { reason: "enough" })).status).toBe(200);
    for (const reader of versions) {
      const { metrics } = (await reader.get(`/runs/${id}/metrics?key=loss`)).json;
      expect(metrics.map(({ step, value }: { step: number; value: number }) => [step, value])).toEqual(
        steps.map((step) => [step, 1 / (step + 1)]),
      );
      expect((await reader.get(`/api/runs/${id}/logs`)).json).toMatchObject({ lines });
      const stopping = (await reader.get("/runs?display_status=stopping")).json.runs;
      expect(stopping.map((run: { id: string }) => run.id)).toContain(id);
    }
  }
});
