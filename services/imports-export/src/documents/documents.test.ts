import { describe, expect, test } from "@jest/globals";
import { readDocumentRuns } from "./document.rules.ts";
import { readMlflowRun, readNeptuneRun, readWandbRun } from "./trackers.rules.ts";

const readers = { neptune: readNeptuneRun, wandb: readWandbRun, mlflow: readMlflowRun };

function read(source: keyof typeof readers, ...runs: unknown[]) {
  const { content, skipped } = readDocumentRuns({ runs }, source, readers[source]);
  const { points, keys, sources } = content;
  const rows = [...points.steps].map((step, i) => [
    sources[points.sources[i]!],
    keys[points.keys[i]!],
    step,
    points.values[i],
    points.timesUs[i],
  ]);
  const runRows = content.runs.map(({ config, metadata, ...run }) => ({
    ...run,
    config: JSON.parse(config) as unknown,
    metadata: JSON.parse(metadata) as unknown,
  }));
  return { runs: runRows, rows, content, warnings: skipped.warnings() };
}

describe("neptune", () => {
  test("metadata is stored under neptune, tags have a default, unknown statuses are finished", () => {
    const found = read(
      "neptune",
      {
        metadata: { neptune_id: "N-1" },
        status: "killed",
        metrics: [
          { key: "loss", value: 1 },
          { key: "loss", step: 2, value: null, timestamp: 5 },
          { key: "loss", step: 3, value: "nan" },
          { key: "loss", step: 4, value: " -Inf" },
        ],
        attributes: [{ path: "p", type: "tag", value: "x" }],
        artifacts: [{ name: "m.pt" }],
      },
      { id: "N-2", name: "two", status: "failed", tags: ["t"] },
    );
    expect(found.runs).toMatchObject([
      { id: "N-1", name: "N-1", status: "finished", tags: ["imported", "neptune"] },
      { id: "N-2", name: "two", status: "failed", tags: ["t"] },
    ]);
    expect(found.runs[0]!.metadata).toEqual({ neptune: { neptune_id: "N-1" }, source: "neptune" });
    expect(found.rows).toEqual([
      ["N-1", "loss", 0, 1, Number.NaN],
      ["N-1", "loss", 3, Number.NaN, Number.NaN],
      ["N-1", "loss", 4, -Infinity, Number.NaN],
    ]);
    expect(found.warnings).toEqual([{ code: "non_finite_value", message: "1 skipped" }]);
    expect([found.content.attributes.length, found.content.artifacts[0]!.uri]).toEqual([1, "neptune://m.pt"]);
  });

  test("a run needs an id or a name", () => {
    expect(() => read("neptune", {})).toThrow(expect.objectContaining({ reason: "bad_request", field: "runs" }));
  });
});

describe("wandb", () => {
  test("rows of the history are points; their index is the step where there is none", () => {
    const found = read("wandb", {
      run_id: "w",
      state: "crashed",
      summary: { best: 1 },
      history: [{ loss: 1, _runtime: 3, note: "x" }, { _step: 7, _timestamp: 2, loss: 2, acc: 3 }, { loss: 4 }],
    });
    expect(found.runs).toMatchObject([{ id: "w", name: "w", status: "failed", tags: [] }]);
    expect(found.runs[0]!.metadata).toEqual({ source: "wandb", wandb: { summary: { best: 1 } } });
    expect(found.rows).toEqual([
      ["w", "loss", 0, 1, Number.NaN],
      ["w", "loss", 7, 2, 2_000_000],
      ["w", "acc", 7, 3, 2_000_000],
      ["w", "loss", 2, 4, Number.NaN],
    ]);
  });

  test.each([-1, "x"])("a step of %j is refused", (_step) => {
    expect(() => read("wandb", { id: "w", history: [{ _step, loss: 1 }] })).toThrow(/runs\[0\].*history\[0\].*_step/);
  });

  test("two runs of one id are two runs", () => {
    const found = read("wandb", { id: "w", history: [{ a: 1 }] }, { id: "w", history: [{ a: 2 }] });
    expect(found.runs.map(({ id, name }) => [id, name])).toEqual([
      ["w", "w"],
      ["w#2", "w"],
    ]);
    expect(found.rows.map(([id]) => id)).toEqual(["w", "w#2"]);
  });
});

describe("mlflow", () => {
  test("history takes precedence over the newest values, and parameters are the config", () => {
    const found = read("mlflow", {
      info: {
        run_uuid: "m",
        status: "KILLED",
        start_time: 1_700_000_000_000,
        experiment_id: "3",
        artifact_uri: "s3://a/",
      },
      data: {
        params: [{ key: "lr", value: "0.1" }],
        tags: [{ key: "mlflow.runName", value: "named" }],
        metrics: [
          { key: "loss", value: 9, step: 9 },
          { key: "acc", value: 1, step: 2, timestamp: 1_700_000_000_500 },
        ],
      },
      metric_history: [{ key: "loss", value: 1, step: 0 }],
      artifacts: [
        { path: "dir", is_dir: true },
        { path: "model/x.onnx", file_size: 5 },
      ],
    });
    expect(found.runs).toEqual([
      {
        id: "m",
        name: "named",
        status: "failed",
        config: { lr: "0.1" },
        tags: ["imported", "mlflow"],
        metadata: {
          mlflow: { tags: { "mlflow.runName": "named" }, run_id: "m", experiment_id: "3", artifact_uri: "s3://a/" },
          source: "mlflow",
        },
        startedUs: 1_700_000_000_000_000,
        finishedUs: null,
      },
    ]);
    expect(found.rows).toEqual([
      ["m", "loss", 0, 1, Number.NaN],
      ["m", "acc", 2, 1, 1_700_000_000_500_000],
    ]);
    expect(found.content.artifacts).toMatchObject([{ uri: "s3://a/model/x.onnx", sizeBytes: 5, type: "checkpoint" }]);
  });

  test("a run without anything gets a name", () => {
    expect(read("mlflow", {}).runs).toMatchObject([{ id: "run-1", name: "mlflow-run", status: "finished" }]);
  });
});

test("runs must be a list of objects", () => {
  expect(() => readDocumentRuns({ runs: {} }, "wandb", readWandbRun)).toThrow(/runs must be a list/);
  expect(() => read("wandb", 1)).toThrow(/runs\[0\]/);
});
