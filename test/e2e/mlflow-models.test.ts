import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const PREFIX = "/api/2.0/mlflow";
const missingModel = `m-${randomUUID().replaceAll("-", "")}`;

describeModes("models of MLflow", (stack) => {
  let api: Api;
  let experiment: string;
  beforeAll(async () => {
    ({ api } = await stack().organization({ scopes: ["sdk:ingest", "export:read", "runs:control"] }));
    experiment = (await api.post(`${PREFIX}/experiments/create`, { name: "models" })).json.experiment_id as string;
  });

  const post = (path: string, body: object) => api.post(`${PREFIX}/${path}`, body);
  const get = (path: string, query: Record<string, string> = {}) =>
    api.get(`${PREFIX}/${path}?${new URLSearchParams(query).toString()}`);
  const send = (method: string, path: string, body?: object) =>
    api.call(method, `${PREFIX}/${path}`, body === undefined ? {} : { body });
  const newRun = async () => {
    const asked = { experiment_id: experiment, user_id: "u", start_time: Date.now(), tags: [] };
    return (await post("runs/create", asked)).json.run.info.run_id as string;
  };
  const newModel = async (fields: object = {}) =>
    (await post("logged-models", { experiment_id: experiment, ...fields })).json.model;
  const refused = (status: number, code: string) => ({ status, json: { error_code: code } });
  const invalid = refused(400, "INVALID_PARAMETER_VALUE");
  const missing = refused(404, "RESOURCE_DOES_NOT_EXIST");

  describe("inputs and outputs of a run", () => {
    const dataset = { name: "train", digest: "d", source_type: "s3", source: "s", schema: "{}", profile: "" };

    test("are logged once, and are in the run", async () => {
      const run_id = await newRun();
      const { model_id } = (await newModel()).info;
      const tags = [{ key: "mlflow.data.context", value: "training" }];
      for (let i = 0; i < 2; i += 1) {
        const inputs = { run_id, datasets: [{ dataset, tags }], models: [{ model_id }] };
        expect(await post("runs/log-inputs", inputs)).toMatchObject({ status: 200, json: {} });
        expect(await post("runs/outputs", { run_id, models: [{ model_id, step: "3" }] })).toMatchObject({
          status: 200,
        });
      }
      expect((await get("runs/get", { run_id })).json.run).toMatchObject({
        inputs: { dataset_inputs: [{ dataset, tags }], model_inputs: [{ model_id }] },
        outputs: { model_outputs: [{ model_id, step: 3 }] },
      });
    });

    test("are refused where something is missing or wrong, and of a deleted run", async () => {
      const run_id = await newRun();
      expect(await post("runs/log-inputs", { run_id, datasets: [{}] })).toMatchObject(invalid);
      expect(await post("runs/log-inputs", { run_id, datasets: [{ dataset: { name: "x" } }] })).toMatchObject(invalid);
      expect(await post("runs/outputs", { run_id, models: [{ model_id: missingModel, step: -1 }] })).toMatchObject(
        invalid,
      );
      expect(await post("runs/outputs", { run_id, models: [{ model_id: "x" }] })).toMatchObject(missing);
      const none = randomUUID().replaceAll("-", "");
      for (const path of ["runs/log-inputs", "runs/outputs"]) {
        expect(await post(path, { run_id: none })).toMatchObject(missing);
        expect(await post(path, {})).toMatchObject(invalid);
      }
      await post("runs/delete", { run_id });
      expect(await post("runs/log-inputs", { run_id, datasets: [{ dataset }] })).toMatchObject(invalid);
      expect((await get("runs/get", { run_id })).json.run.inputs).toEqual({});
    });

    test("of old clients are a list in a tag", async () => {
      const run_id = await newRun();
      for (const artifact_path of ["a", "b"]) {
        expect(await post("runs/log-model", { run_id, model_json: JSON.stringify({ artifact_path }) })).toMatchObject({
          status: 200,
        });
      }
      const { tags } = (await get("runs/get", { run_id })).json.run.data;
      const { value } = tags.find(({ key }: { key: string }) => key === "mlflow.log-model.history");
      expect(JSON.parse(value)).toEqual([{ artifact_path: "a" }, { artifact_path: "b" }]);
      expect(await post("runs/log-model", { run_id, model_json: "[" })).toMatchObject(invalid);
    });
  });

  describe("a logged model", () => {
    test("is made, changed, read and deleted", async () => {
      const source_run_id = await newRun();
      const { info, data } = await newModel({
        name: "m",
        model_type: "agent",
        source_run_id,
        params: [{ key: "a", value: "1" }],
        tags: [{ key: "t", value: "x" }],
      });
      expect(info).toMatchObject({
        name: "m",
        model_type: "agent",
        source_run_id,
        experiment_id: experiment,
        status: "LOGGED_MODEL_PENDING",
        tags: [{ key: "t", value: "x" }],
      });
      expect(info.artifact_uri).toBe(`mlflow-artifacts:/${experiment}/models/${info.model_id}/artifacts`);
      expect(data.params).toEqual([{ key: "a", value: "1" }]);
      const path = `logged-models/${info.model_id}`;
      expect(await send("PATCH", path, { status: "LOGGED_MODEL_READY" })).toMatchObject({
        status: 200,
        json: { model: { info: { status: "LOGGED_MODEL_READY" } } },
      });
      expect(await send("PATCH", `${path}/tags`, { tags: [{ key: "u/v", value: "y" }] })).toMatchObject({
        status: 200,
        json: {},
      });
      expect(await send("DELETE", `${path}/tags/t`)).toMatchObject({ status: 200, json: {} });
      expect(await send("DELETE", `${path}/tags/t`)).toMatchObject(missing);
      expect(await post(`${path}/params`, { params: [{ key: "b", value: "2" }] })).toMatchObject({
        status: 200,
        json: {},
      });
      expect(await post(`${path}/params`, { params: [{ key: "b", value: "3" }] })).toMatchObject(invalid);
      const { model } = (await get(path)).json;
      expect(model.info.tags).toEqual([{ key: "u/v", value: "y" }]);
      expect(model.data.params).toHaveLength(2);
      expect(await send("DELETE", path)).toMatchObject({ status: 200, json: {} });
      for (const answer of [
        await get(path),
        await send("DELETE", path),
        await send("PATCH", path, { status: "LOGGED_MODEL_READY" }),
      ]) {
        expect(answer).toMatchObject(missing);
      }
    });

    test("gets a name where it has none, and is refused with a wrong one", async () => {
      expect((await newModel()).info.name).toMatch(/^model-/);
      for (const name of ["a/b", "a:b", "a.b", "a%b", 'a"b', "a'b", "x".repeat(501)]) {
        expect(await post("logged-models", { experiment_id: experiment, name })).toMatchObject(invalid);
      }
      expect(await post("logged-models", {})).toMatchObject(invalid);
      expect(await post("logged-models", { experiment_id: "999" })).toMatchObject(missing);
      const source_run_id = randomUUID().replaceAll("-", "");
      expect(await post("logged-models", { experiment_id: experiment, source_run_id })).toMatchObject(missing);
      const params = Array.from({ length: 101 }, (_, i) => ({ key: `k${i}`, value: "" }));
      expect(await post("logged-models", { experiment_id: experiment, params })).toMatchObject(invalid);
      const twice = [params[0], params[0]];
      expect(await post("logged-models", { experiment_id: experiment, params: twice })).toMatchObject(invalid);
      const { model_id } = (await newModel()).info;
      for (const status of ["LOGGED_MODEL_PENDING", "ready", undefined]) {
        expect(await send("PATCH", `logged-models/${model_id}`, { status })).toMatchObject(invalid);
      }
      for (const id of [missingModel, "x"]) expect(await get(`logged-models/${id}`)).toMatchObject(missing);
    });

    test("has the newest of the metrics that runs log for it", async () => {
      const run_id = await newRun();
      const { model_id } = (await newModel()).info;
      const point = { key: "acc", timestamp: 5, model_id, dataset_name: "eval", dataset_digest: "d" };
      const metrics = [
        { ...point, value: 0.5, step: 2 },
        { ...point, value: 0.9, step: 1 },
        { key: "other", value: 1, timestamp: 1 },
      ];
      expect(await post("runs/log-batch", { run_id, metrics })).toMatchObject({ status: 200 });
      expect(await post("runs/log-metric", { run_id, key: "nan", value: "NaN", timestamp: 7, model_id })).toMatchObject(
        { status: 200 },
      );
      expect((await get(`logged-models/${model_id}`)).json.model.data.metrics).toEqual([
        { key: "acc", value: 0.5, step: 2, timestamp: 5, run_id, model_id, dataset_name: "eval", dataset_digest: "d" },
        { key: "nan", value: "NaN", step: 0, timestamp: 7, run_id, model_id, dataset_name: "", dataset_digest: "" },
      ]);
      const wrong = [{ ...point, value: 1, model_id: missingModel }];
      expect(await post("runs/log-batch", { run_id, metrics: wrong })).toMatchObject(missing);
    });

    test("is found by filters and in orders, page by page", async () => {
      const own = (await post("experiments/create", { name: "searched" })).json.experiment_id as string;
      const run_id = await newRun();
      const ids: string[] = [];
      for (const name of ["a", "b", "c"]) {
        const { model } = (
          await post("logged-models", {
            experiment_id: own,
            name,
            params: [{ key: "p", value: name }],
            ...(name === "b" ? { source_run_id: run_id } : {}),
          })
        ).json;
        ids.push(model.info.model_id as string);
      }
      await post("runs/log-metric", {
        run_id,
        key: "acc",
        value: 0.5,
        timestamp: 1,
        model_id: ids[0],
        dataset_name: "eval",
      });
      await send("PATCH", `logged-models/${ids[2]}`, { status: "LOGGED_MODEL_READY" });
      const found = async (body: object) => {
        const { json, status } = await post("logged-models/search", { experiment_ids: [own], ...body });
        return status === 200 ? (json.models ?? []).map((model: { info: { name: string } }) => model.info.name) : json;
      };
      expect(await found({})).toEqual(["c", "b", "a"]);
      expect(await found({ filter: "name = 'a'" })).toEqual(["a"]);
      expect(await found({ filter: `model_id IN ('${ids[1]}', 'x')` })).toEqual(["b"]);
      expect(await found({ filter: "params.p != 'b' AND attributes.creation_timestamp > 1" })).toEqual(["c", "a"]);
      expect(await found({ filter: "status = 'READY'" })).toEqual(["c"]);
      expect(await found({ filter: `source_run_id = '${run_id}'` })).toEqual(["b"]);
      expect(await found({ filter: "metrics.acc > 0.1", datasets: [{ dataset_name: "eval" }] })).toEqual(["a"]);
      expect(
        await found({
          order_by: [{ field_name: "metrics.acc", ascending: false, dataset_name: "eval" }, { field_name: "name" }],
        }),
      ).toEqual(["a", "b", "c"]);
      expect(await post("logged-models/search", { experiment_ids: [own], filter: "name = 'none'" })).toMatchObject({
        status: 200,
        json: {},
      });
      expect(await found({ experiment_ids: ["999"] })).toEqual([]);
      const first = (await post("logged-models/search", { experiment_ids: [own], max_results: 2 })).json;
      expect(first.models).toHaveLength(2);
      expect(await found({ max_results: 2, page_token: first.next_page_token })).toEqual(["a"]);
      for (const wrong of [
        { page_token: "foreign" },
        { page_token: first.next_page_token, order_by: [{ field_name: "name" }] },
        { max_results: 0 },
        { filter: "color = 'a'" },
        { filter: "name = 'a' OR name = 'b'" },
        { order_by: [{ field_name: "color" }] },
        { experiment_ids: [1] },
        { experiment_ids: Array.from({ length: 101 }, () => own) },
      ]) {
        expect(await post("logged-models/search", { experiment_ids: [own], ...wrong })).toMatchObject(invalid);
      }
    });
  });
});
