import { expect, test } from "@jest/globals";
import { requireServers, until } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { createImport, type TestJob } from "../stack/imports.ts";
import { startOwnPostgres, type Server } from "../stack/server.ts";
import { startStack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

const CHUNKS = 10;
const POINTS = 3000;
const KEYS = 3;

const sourceOf = (chunk: number): string => `run-${chunk}`;
/** Each chunk contains a run, and points of this run and the previous one. */
const pointsOf = (chunk: number) =>
  Array.from({ length: POINTS }, (_, i) => ({
    source_run_id: sourceOf(i % 2 === 0 ? chunk : Math.max(0, chunk - 1)),
    key: `key/${i % KEYS}`,
    step: chunk * POINTS + i,
    value: i,
    timestamp: 1_700_000_000 + i,
  }));

async function stage(api: Api, project: string): Promise<TestJob> {
  const job = await createImport(api, { project });
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    const id = sourceOf(chunk);
    const parts = {
      runs: [{ source_run_id: id, name: id, config: { chunk } }],
      metric_points: pointsOf(chunk),
      attributes: [0, 1, 2].map((i) => ({ source_run_id: id, path: `a/${i}`, type: "config", value: i })),
      artifact_refs: [0, 1].map((i) => ({ source_run_id: id, name: `file-${i}` })),
    };
    const answer = await job.put(parts, { final: chunk === CHUNKS - 1 });
    expect([answer.status, answer.json.error]).toEqual([200, undefined]);
  }
  return job;
}

const summary = {
  runs: CHUNKS,
  metrics: CHUNKS * POINTS,
  attributes: CHUNKS * 3,
  artifacts: CHUNKS * 2,
  warnings: 0,
  updated_runs: 0,
  skipped_runs: 0,
};

/** The stored data, run by run, read back as any client reads it. */
async function storedOf(api: Api, project: string) {
  const { runs } = (await api.get(`/runs?project=${project}&limit=1000&sort_by=name`)).json;
  const found = [];
  for (const { id, name } of runs as { id: string; name: string }[]) {
    const steps: number[] = [];
    for (let key = 0; key < KEYS; key++) {
      const { metrics } = (await api.get(`/runs/${id}/metrics?key=key/${key}&limit=5000`)).json;
      steps.push(...(metrics as { step: number }[]).map(({ step }) => step));
    }
    const { attributes } = (await api.get(`/api/runs/${id}/attributes`)).json;
    const { artifacts } = (await api.get(`/api/runs/${id}/artifacts`)).json;
    found.push({
      name,
      steps: steps.toSorted((a, b) => a - b),
      attributes: attributes.length,
      artifacts: artifacts.length,
    });
  }
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The data that was sent. */
function sent() {
  const steps = new Map<string, number[]>();
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    for (const { source_run_id: id, step } of pointsOf(chunk)) steps.set(id, [...(steps.get(id) ?? []), step]);
  }
  return [...steps]
    .map(([name, of]) => ({ name, steps: of.toSorted((a, b) => a - b), attributes: 3, artifacts: 2 }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Waits for a commit, and asks for it again when something ended it. */
async function untilCommitted(api: Api, job: TestJob): Promise<void> {
  await until("the commit", async () => {
    const answer = await api.get(job.path).catch(() => undefined);
    const status = answer?.json?.job?.status;
    if (status === "failed" || status === "dry_run_ready") await job.commit().catch(() => undefined);
    return status === "committed";
  });
}

async function killed(server: Pick<Server, "signal" | "start">): Promise<void> {
  server.signal("SIGKILL");
  await server.start();
}

describeWith(servers)("imports", () => {
  test("whose services, database and bus are killed while they are committed store everything once", async () => {
    const postgres = await startOwnPostgres();
    const stack = await startStack("split", { databaseUrl: postgres.url });
    try {
      const { api } = await stack.organization();
      const kills: [string, number, () => Promise<void>][] = [
        ["imports-export", 3, () => stack.restart("imports-export")],
        ["imports-export", CHUNKS + 4, () => stack.restart("imports-export")],
        ["runs", 2, () => stack.restart("runs")],
        ["ingest", CHUNKS + 2, () => stack.restart("ingest")],
        ["artifacts", CHUNKS + 3, () => stack.restart("artifacts")],
        ["the database", CHUNKS + 1, () => killed(postgres)],
        ["the bus", 0, () => killed(stack.nats!)],
      ];
      let hits = 0;
      for (const [index, [name, batches, kill]] of kills.entries()) {
        const project = `p${index}`;
        const job = await stage(api, project);
        const asked = api
          .post(`${job.path}/commit`, {}, { headers: { prefer: "respond-async" } })
          .catch(() => undefined);
        let progress = { state: "", batches_done: 0 };
        await until(`batch ${batches} before ${name} is killed`, async () => {
          progress = (await api.get(job.path)).json.job.progress;
          return progress.batches_done >= batches && progress.state !== "dry_run_ready";
        });
        await kill();
        hits += progress.state === "committing" ? 1 : 0;
        await asked;
        await untilCommitted(api, job);
        const again = await job.commit();
        expect([name, again.status, again.json.summary]).toEqual([name, 200, summary]);
        expect(await storedOf(api, project)).toEqual(sent());
      }
      // Nearly all, unless the machine is so fast that a commit ends between two looks at it.
      expect(hits).toBeGreaterThan(kills.length / 2);
    } finally {
      await stack.stop();
      await postgres.end();
    }
  });
});
