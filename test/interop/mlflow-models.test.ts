import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { runCaptured } from "@tidemark/local/toolcache";
import { requirePython } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { sharedStack } from "../stack/shared-stacks.ts";

// The unmodified client of MLflow logs models to us and registers them.

const at = (name: string): string => join(import.meta.dirname, name);

const newest = await requirePython({
  requirements: at("mlflow3-requirements.txt"),
  leftOut: "whether the newest MLflow client can log and register models",
});

describeWith(newest)("a client of MLflow", () => {
  test("logs models and registers them as with a server of MLflow", async () => {
    const stack = await sharedStack("embedded", {});
    const { key } = await stack.organization({ scopes: ["sdk:ingest", "export:read", "runs:control"] });
    const { code, stdout, output } = await runCaptured(newest!.python, [at("register_with_mlflow.py")], {
      env: {
        ...process.env,
        MLFLOW_TRACKING_URI: stack.api.baseUrl,
        MLFLOW_HTTP_REQUEST_MAX_RETRIES: "0",
        MLFLOW_TRACKING_TOKEN: key,
      },
    });
    expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
    expect(JSON.parse(stdout.split("\n").at(-1)!)).toEqual({
      model: {
        name: "net",
        type: "agent",
        status: "READY",
        of_run: true,
        uri: "mlflow-artifacts:/1/models/MODEL/artifacts",
        params: 151,
        tags: expect.objectContaining({ b: "2", "a/b": "3" }),
        metrics: [["acc", 0.75, 2, "train"]],
      },
      inputs: [["train", "d1", { "mlflow.data.context": "training" }]],
      input_models: [true],
      outputs: [[true, 3]],
      found: [["net"], ["net", "other"], ["other"], "INVALID_PARAMETER_VALUE"],
      taken: "RESOURCE_ALREADY_EXISTS",
      version: ["1", "READY", true],
      by_alias: "1",
      no_alias: "INVALID_PARAMETER_VALUE",
      reserved: "INVALID_PARAMETER_VALUE",
      uris: ["mlflow-artifacts:/1/models/MODEL/artifacts", "s3://elsewhere/model"],
      latest: [
        ["1", "None"],
        ["2", "Staging"],
      ],
      versions: [
        ["1", ["champion"], { x: "1" }],
        ["2", [], { y: "2" }],
      ],
      of_run: ["1"],
      next: "3",
      prompt: [1, "Hello {{name}}", "Hi {{name}}"],
      prompts: ["greeting"],
      registered: [["renamed", "new", { team: "a" }, { champion: "1" }]],
      gone: ["RESOURCE_DOES_NOT_EXIST", "RESOURCE_DOES_NOT_EXIST", "RESOURCE_DOES_NOT_EXIST"],
    });
  });
});
