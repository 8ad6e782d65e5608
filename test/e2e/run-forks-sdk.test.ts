import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { describeModes } from "../stack/modes.ts";

const environment = await requirePython({
  requirements: join(import.meta.dirname, "../../examples/python/requirements.txt"),
  leftOut: "fork_run of the unmodified instantml SDK",
});

const script = `
import json, os, instantml
run = instantml.Api().fork_run(
    os.environ["RUN"], step=3, config_overrides={"lr": 0.5}, tags=["sdk"], notes="from Python", metadata={"who": "sdk"})
again = instantml.Api().fork_run(
    os.environ["RUN"], step=3, config_overrides={"lr": 0.5}, tags=["sdk"], notes="from Python", metadata={"who": "sdk"})
other = instantml.Api().fork_run(os.environ["RUN"])
print(json.dumps({"run": run, "again": again["id"], "other": other["id"]}))
`;

describeWith(environment)("the published SDK", () => {
  describeModes("forks", (stack) => {
    test("forks a run; the same call twice is one fork", async () => {
      const { api, key } = await stack().organization();
      const parent = (await api.post("/runs", { name: "base", config: { lr: 0.1, depth: 2 } })).json.run;
      const settings = { INSTANTML_API_BASE_URL: stack().baseUrl, INSTANTML_API_KEY: key, RUN: parent.id };
      const { PATH = "" } = process.env;
      const { stdout } = await promisify(execFile)(environment?.python ?? "", ["-c", script], {
        env: { PATH, ...settings },
      });
      const { run, again, other } = JSON.parse(stdout) as {
        run: Record<string, unknown>;
        again: string;
        other: string;
      };
      expect(run).toMatchObject({
        parent_run_id: parent.id,
        forked_from_step: 3,
        name: "fork-of-base-step-3",
        config: { lr: 0.5, depth: 2 },
        tags: ["sdk", "forked"],
        metadata: { who: "sdk", notes: "from Python", lineage: { source_run_id: parent.id } },
      });
      expect(again).toBe(run["id"]);
      expect(other).not.toBe(run["id"]);
      expect((await api.get(`/api/runs/${parent.id}/lineage`)).json.children_total).toBe(2);
    });
  });
});
