import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { runCaptured } from "@tidemark/local/toolcache";
import { isDeep, requirePython } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { sharedStack } from "../stack/shared-stacks.ts";

// The unmodified client of MLflow logs to us.

const at = (name: string): string => join(import.meta.dirname, name);

const newest = await requirePython({
  requirements: at("mlflow3-requirements.txt"),
  leftOut: "whether the newest MLflow client can log",
});
const older = isDeep
  ? await requirePython({
      requirements: at("mlflow2-requirements.txt"),
      leftOut: "whether the MLflow client 2.22 can log",
    })
  : undefined;

/** Logs to a new organization, and checks what the client and the product read back. */
async function log(python: string, credentials: (key: string) => Record<string, string>): Promise<void> {
  const stack = await sharedStack("embedded", {});
  const { api, key } = await stack.organization();
  const { code, stdout, output } = await runCaptured(python, [at("log_with_mlflow.py")], {
    env: {
      ...process.env,
      MLFLOW_TRACKING_URI: stack.api.baseUrl,
      MLFLOW_HTTP_REQUEST_MAX_RETRIES: "0",
      ...credentials(key),
    },
  });
  expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
  const seen = JSON.parse(stdout.split("\n").at(-1)!) as { readonly run: { readonly tags: object } };
  const run = {
    name: "first",
    status: "FINISHED",
    experiment: "2",
    stage: "active",
    uri: "mlflow-artifacts:/2/RUN/artifacts",
    ended: true,
    params: { lr: "0.001", layers: "3", small: "1e-05", flag: "True", name: "net", extra: "007" },
    metrics: { loss: 1 / 3, acc: 0.3, bad: "nan", wild: "inf" },
  };
  expect(seen).toMatchObject({
    default: {
      status: "FINISHED",
      experiment: "0",
      metrics: { loss: 0.5 },
      uri: "mlflow-artifacts:/0/RUN/artifacts",
    },
    default_by_name: "0",
    again: true,
    experiment: { id: "2", stage: "active", uri: "mlflow-artifacts:/2" },
    taken: "RESOURCE_ALREADY_EXISTS",
    missing: null,
    experiment_tags: { team: "a", "mlflow.note.content": "for all" },
    run,
    child_of: true,
    history: [1, 1, 1 / 2, 1 / 3].map((value, i) => [i, value]),
    history_bad: [[5, "nan"]],
    history_none: [],
    listed: [
      [
        ["all", true, null],
        ["notes", true, null],
        ["one.txt", false, 10],
      ],
      [
        ["all/a name é 日.txt", false, 11],
        ["all/deep", true, null],
        ["all/empty.bin", false, 0],
      ],
      [
        ["notes/d.json", false, expect.any(Number)],
        ["notes/t.txt", false, 4],
      ],
      [],
      [],
    ],
    downloaded: {
      "all/a name é 日.txt": "with spaces",
      "all/deep/100% 1.csv": "a,b",
      "all/empty.bin": "",
      "notes/d.json": expect.stringContaining("1"),
      "notes/t.txt": "text",
      "one.txt": "the second",
    },
    folder: ["100% 1.csv"],
    loaded: ["the second", { a: 1 }],
    same_param: null,
    other_param: "INVALID_PARAMETER_VALUE",
    nothing_stored: true,
    many: [900, 56],
    latest_of_a_step: 5,
    killed: ["KILLED", "renamed"],
    resumed: "RUNNING",
    long_note: 600,
    deleted: "deleted",
    write_to_deleted: "INVALID_PARAMETER_VALUE",
    restored: ["active", 1],
    experiment_deleted: ["deleted", "deleted", null, "INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST"],
    experiment_restored: ["vision 2", "active"],
    found: {
      all: ["child", "renamed"],
      metric: ["renamed"],
      not_a_number: ["renamed"],
      param: ["renamed"],
      tag: ["renamed"],
      child: ["child"],
      attribute: ["renamed"],
      by_metric: ["renamed", "child"],
      by_param: ["renamed", "child"],
      whole: true,
      refused: "INVALID_PARAMETER_VALUE",
    },
    pages: [1, 1, true, null],
    found_runs: ["child", "renamed"],
    every_experiment: 2,
    experiments: [["Default", "vision 2"], ["vision 2"], []],
    unknown_run: "RESOURCE_DOES_NOT_EXIST",
  });
  const { tags } = seen.run;
  expect(tags).toMatchObject({ stage: "test", k: "w", "mlflow.runName": "first", "mlflow.note.content": "a *note*" });
  expect(tags).not.toHaveProperty("gone");

  // The same run, natively.
  const { runs } = (await api.get("/runs?project=vision%202&limit=10")).json as { runs: Record<string, unknown>[] };
  expect(runs.map(({ name }) => name)).toEqual(["child", "renamed"]);
  expect(runs[1]).toMatchObject({
    config: { lr: 0.001, layers: 3, small: "1e-05", flag: "True", extra: "007" },
    notes: "n".repeat(512),
    metadata: { mlflow: { tags: { stage: "test", k: "w" } } },
  });
  const series = (await api.get(`/runs/${String(runs[1]!["id"])}/metrics?key=loss`)).json;
  expect(series.metrics.map(({ value }: { value: number }) => value)).toEqual([1, 1, 1 / 2, 1 / 3]);
}

describeWith(newest)("the newest client of MLflow", () => {
  test("logs, reads back, repeats and is refused as by a server of MLflow", async () => {
    await expect(log(newest!.python, (key) => ({ MLFLOW_TRACKING_TOKEN: key }))).resolves.toBeUndefined();
  });
});

// Otherwise it was not asked for, and nothing is left out.
if (isDeep) {
  describeWith(older)("the client 2.22 of MLflow", () => {
    test("does the same, with a password", async () => {
      const credentials = (key: string) => ({ MLFLOW_TRACKING_USERNAME: "someone", MLFLOW_TRACKING_PASSWORD: key });
      await expect(log(older!.python, credentials)).resolves.toBeUndefined();
    });
  });
}
