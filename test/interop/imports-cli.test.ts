import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { describeModes } from "../stack/modes.ts";

const environment = await requirePython({
  requirements: join(import.meta.dirname, "tensorboard-requirements.txt"),
  leftOut: "imports by the CLI of the instantml SDK",
});

const run = promisify(execFile);

/** Input of the CLI, in the form that exporters write. */
const documents = {
  wandb: {
    project: "team/old",
    runs: [
      {
        id: "w1",
        name: "one",
        state: "crashed",
        config: { lr: 0.5 },
        tags: ["t"],
        history: [
          { _step: 0, _timestamp: 1_700_000_000.5, loss: 1, acc: 0.5 },
          { _step: 1, _timestamp: 1_700_000_001.5, loss: 0.5 },
        ],
        artifacts: [{ name: "model.pt", uri: "s3://b/model.pt", size_bytes: 5 }],
      },
      { id: "w2", history: [{ _step: 3, loss: 2 }] },
    ],
  },
  neptune: { project: "n", runs: [{ neptune_id: "N-1", name: "n", metrics: [{ key: "loss", step: 1, value: 1.5 }] }] },
  mlflow: { project: "m", runs: [{ run_id: "m1", name: "m", metrics: [{ key: "loss", step: 1, value: 1.5 }] }] },
};
type Source = keyof typeof documents;
const stored: Record<Source, { readonly runs: number; readonly metrics: number }> = {
  wandb: { runs: 2, metrics: 4 },
  neptune: { runs: 1, metrics: 1 },
  mlflow: { runs: 1, metrics: 1 },
};

describeWith(environment)("the unmodified CLI of the SDK", () => {
  describeModes("imports", (stack) => {
    let folder = "";
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "tidemark-imports-"));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    const cli = (key: string, ...args: string[]) =>
      run(join(dirname(environment!.python), "instantml"), [...args, "--api-host", stack().baseUrl], {
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: folder, INSTANTML_API_KEY: key },
      });
    const jobs = async (api: Api) => (await api.get("/api/imports")).json.imports;

    test.each(Object.keys(documents) as Source[])(
      "%s: dry, then stored, then skipped",
      async (source) => {
        const { api, key } = await stack().organization();
        const input = join(folder, `${source}.json`);
        await writeFile(input, JSON.stringify(documents[source]));
        const args = ["import", source, "--project", "imported", "--input", input] as const;
        expect((await cli(key, ...args, "--dry-run")).stdout).toContain("dry_run_ready");
        expect((await api.get("/projects")).json.projects).toEqual([]);
        expect((await cli(key, ...args)).stdout).toContain("committed");
        await cli(key, ...args);
        const { runs, metrics } = stored[source];
        expect(await jobs(api)).toMatchObject([
          { id: 3, status: "committed", summary: { runs: 0, metrics: 0, skipped_runs: runs } },
          { id: 2, status: "committed", summary: { runs, metrics, skipped_runs: 0 } },
          { id: 1, status: "dry_run_ready", summary: { runs, metrics } },
        ]);
        expect((await api.get("/runs?project=imported")).json.runs).toHaveLength(runs);
      },
      120_000,
    );

    test("tensorboard: synced, and synced again with more points", async () => {
      const { api, key } = await stack().organization();
      const logs = await mkdtemp(join(folder, "logs-"));
      const write = (first: number, last: number) =>
        run(environment!.python, [join(import.meta.dirname, "write_events.py"), logs, String(first), String(last)]);
      const sync = () => cli(key, "sync", "tensorboard", logs, "--project", "boards");
      await write(0, 4);
      expect((await sync()).stdout).toContain("committed");
      await write(4, 6);
      await sync();
      await sync();
      expect(await jobs(api)).toMatchObject([
        { summary: { runs: 0, updated_runs: 1, metrics: 0 } },
        { summary: { runs: 0, updated_runs: 1, metrics: 4 } },
        { summary: { runs: 1, updated_runs: 0, metrics: 8 } },
      ]);
      const [{ id }] = (await api.get("/runs?project=boards")).json.runs;
      const { metrics } = (await api.get(`/runs/${id}/metrics?key=loss`)).json;
      expect(metrics.map(({ step, value }: { step: number; value: number }) => [step, value])).toEqual(
        [0, 1, 2, 3, 4, 5].map((step) => [step, step * 0.5]),
      );
      expect(metrics[1].timestamp).toBe("2023-11-14T22:13:21.25Z");
      await cli(key, "sync", "tensorboard", logs, "--project", "boards", "--run-id", id);
      expect((await api.get(`/runs/${id}/metrics?key=loss`)).json.metrics).toHaveLength(12);
    });
  });
});
