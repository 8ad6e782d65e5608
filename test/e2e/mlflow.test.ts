import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

// What a client of MLflow sends, on the wire; test/interop/mlflow.test.ts has the client itself.

const ROOT = "/api/2.0/mlflow";
const post = (api: Api, path: string, body: object): Promise<Answer> => api.post(`${ROOT}/${path}`, body);
const get = (api: Api, path: string, query: Record<string, string>): Promise<Answer> =>
  api.get(`${ROOT}/${path}?${new URLSearchParams(query).toString()}`);

const refused = (text: string) => ({ status: 400, json: { error_code: "INVALID_PARAMETER_VALUE", message: text } });
const missing = (text: string) => ({ status: 404, json: { error_code: "RESOURCE_DOES_NOT_EXIST", message: text } });
const containing = (text: string) => expect.stringContaining(text) as unknown as string;

async function newRun(api: Api, fields: object = {}): Promise<string> {
  const { status, json } = await post(api, "runs/create", { start_time: 1_700_000_000_000, ...fields });
  expect(status).toBe(200);
  return json.run.info.run_id as string;
}

const runOf = async (api: Api, id: string) => (await get(api, "runs/get", { run_id: id })).json.run;
const named = (list: readonly { key: string; value: unknown }[]): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, value]));

/** Requests of routes of runs that are refused: route, fields, and a part of the message. */
const faulty: readonly (readonly [path: string, fields: object, text: string])[] = [
  ["create", { run_name: "a", tags: [{ key: "mlflow.runName", value: "b" }] }, "different"],
  ["create", { run_name: "x".repeat(513) }, "512 bytes"],
  ["create", { start_time: -1 }, "start_time"],
  ["create", { tags: {} }, "tags must be a list"],
  ["update", { status: "DONE" }, "status must be one of"],
  ["update", { end_time: "soon" }, "end_time"],
  ["set-tag", { value: "x" }, "key"],
  ["set-tag", { key: "a", value: 1 }, "value must be a text"],
  ["log-parameter", { key: "a//b", value: "x" }, "parts"],
  ["log-parameter", { key: "a/../b", value: "x" }, "parts"],
  ["log-parameter", { key: "a?", value: "x" }, "letters"],
  ["log-parameter", { key: "k".repeat(251), value: "x" }, "250 characters"],
  ["log-metric", { key: "a", value: 1 }, "timestamp is required"],
  ["log-metric", { key: "a", timestamp: 1 }, "value is required"],
  ["log-metric", { key: "a", value: "much", timestamp: 1 }, "number within double range"],
  ["log-metric", { key: "a", value: 1, timestamp: 1, step: -1 }, "step must be a whole number from 0"],
  ["log-metric", { key: "a", value: 1, timestamp: 1, step: "9007199254740992" }, "9007199254740991"],
  ["log-metric", { key: "a", value: 1, timestamp: 1, step: 0.5 }, "whole number"],
  [
    "log-batch",
    {
      params: [
        { key: "a", value: "1" },
        { key: "a", value: "1" },
      ],
    },
    "twice",
  ],
  ["log-batch", { metrics: Array.from({ length: 1001 }, () => ({ key: "a", value: 1, timestamp: 1 })) }, "1000 items"],
  ["log-batch", { params: Array.from({ length: 101 }, (_, i) => ({ key: `p${i}`, value: "" })) }, "100 items"],
  ["log-batch", { tags: Array.from({ length: 101 }, (_, i) => ({ key: `p${i}`, value: "" })) }, "100 items"],
  [
    "log-batch",
    {
      metrics: Array.from({ length: 1000 }, () => ({ key: "a", value: 1, timestamp: 1 })),
      tags: [{ key: "t", value: "" }],
    },
    "together",
  ],
  ["delete-tag", { key: "" }, "key"],
];

describeModes("the dialect of MLflow", (stack) => {
  test("experiments are numbered projects, and Default is made on first use", async () => {
    const { api } = await stack().organization();
    const byDefault = { experiment: { experiment_id: "0", name: "Default", lifecycle_stage: "active" } };
    expect((await get(api, "experiments/get", { experiment_id: "0" })).json).toMatchObject(byDefault);
    expect((await api.get("/projects")).json.total).toBe(0);
    const tags = [{ key: "a", value: "b" }];
    const made = await post(api, "experiments/create", { name: " vision ", tags, artifact_location: "s3://b/c", x: 1 });
    expect([made.status, made.json]).toEqual([200, { experiment_id: "1" }]);
    const id = await newRun(api);
    expect(await runOf(api, id)).toMatchObject({
      info: { experiment_id: "0", run_uuid: id, artifact_uri: `mlflow-artifacts:/0/${id}/artifacts` },
    });
    expect((await api.get("/projects")).json.projects.map(({ name }: { name: string }) => name)).toEqual([
      "Default",
      "vision",
    ]);
    expect((await get(api, "experiments/get", { experiment_id: "2" })).json).toMatchObject(byDefault);
    expect((await get(api, "experiments/get-by-name", { experiment_name: "vision" })).json.experiment).toMatchObject({
      experiment_id: "1",
      tags,
      artifact_location: "s3://b/c",
      creation_time: expect.any(Number),
      last_update_time: expect.any(Number),
    });
    const elsewhere = await newRun(api, { experiment_id: 1 });
    expect((await runOf(api, elsewhere)).info.artifact_uri).toBe(`s3://b/c/${elsewhere}/artifacts`);
  });

  test.each([
    ["without a name", {}, "name must not be empty"],
    ["with a name of 501 letters", { name: "x".repeat(501) }, "500 characters"],
    ["with a name of 513 bytes", { name: "é".repeat(257) }, "512 bytes"],
    ["for all projects", { name: "all" }, "all"],
    [
      "with artifacts elsewhere on this server",
      { name: "x", artifact_location: "mlflow-artifacts:/9" },
      "artifact_location",
    ],
    ["with a long tag", { name: "x", tags: [{ key: "k", value: "v".repeat(20_001) }] }, "20000 characters"],
  ])("an experiment %s is refused", async (_, fields, text) => {
    const { api } = await stack().organization();
    expect(await post(api, "experiments/create", fields)).toMatchObject(refused(containing(text)));
    expect((await api.get("/projects")).json.total).toBe(0);
  });

  test("experiments that are taken, missing or deleted are answered by code", async () => {
    const { api } = await stack().organization();
    const taken = { status: 400, json: { error_code: "RESOURCE_ALREADY_EXISTS" } };
    expect(await post(api, "experiments/create", { name: "Default" })).toMatchObject(taken);
    await post(api, "experiments/create", { name: "a" });
    expect(await post(api, "experiments/create", { name: "a" })).toMatchObject(taken);
    for (const experiment_id of ["99", "abc", "-1"])
      expect(await get(api, "experiments/get", { experiment_id })).toMatchObject(missing("experiment not found"));
    expect(await get(api, "experiments/get", {})).toMatchObject(refused("experiment_id is required"));
    expect(await get(api, "experiments/get-by-name", { experiment_name: "b" })).toMatchObject(
      missing("experiment not found"),
    );
    const a = { experiment_id: "1" };
    expect(await post(api, "experiments/delete-experiment-tag", { ...a, key: "k" })).toMatchObject(
      missing("tag not found"),
    );
    expect(await post(api, "experiments/restore", a)).toMatchObject(missing("deleted experiment not found"));
    await post(api, "experiments/set-experiment-tag", { ...a, key: "mlflow.note.content", value: "n".repeat(600) });
    await post(api, "experiments/set-experiment-tag", { ...a, key: "k", value: "v" });
    expect(named((await get(api, "experiments/get", a)).json.experiment.tags)).toEqual({
      k: "v",
      "mlflow.note.content": "n".repeat(600),
    });
    expect((await api.get("/projects")).json.projects[0].description).toBe("n".repeat(512));
    expect((await post(api, "experiments/delete-experiment-tag", { ...a, key: "k" })).json).toEqual({});
    expect((await post(api, "experiments/delete", a)).json).toEqual({});
    expect(await post(api, "experiments/delete", a)).toMatchObject(missing("active experiment not found"));
    expect((await get(api, "experiments/get", a)).json.experiment.lifecycle_stage).toBe("deleted");
    const isDeleted = refused(containing("deleted"));
    for (const path of ["update", "set-experiment-tag"])
      expect(await post(api, `experiments/${path}`, { ...a, key: "k", new_name: "c" })).toMatchObject(isDeleted);
    expect(await post(api, "runs/create", a)).toMatchObject(isDeleted);
    await post(api, "experiments/create", { name: "a" });
    expect(await post(api, "experiments/restore", a)).toMatchObject(taken);
    await post(api, "experiments/update", { experiment_id: "2", new_name: "c" });
    expect((await post(api, "experiments/restore", a)).status).toBe(200);
    expect(await post(api, "experiments/update", { experiment_id: "2", new_name: "a" })).toMatchObject(taken);
  });

  test("a key of one project deletes no experiment, and sees its own only", async () => {
    const { api, orgId } = await stack().organization();
    const { id } = (await api.post("/projects", { name: "own" })).json.project;
    await api.post("/projects", { name: "other" });
    const made = await stack().api.post(
      `/api/orgs/${orgId}/api-keys`,
      { name: "k", scopes: ["sdk:ingest", "export:read", "runs:control"], project_id: id },
      { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } },
    );
    const own = api.as(made.json.api_key);
    expect((await get(own, "experiments/get", { experiment_id: "1" })).status).toBe(200);
    expect(await get(own, "experiments/get", { experiment_id: "2" })).toMatchObject(missing("experiment not found"));
    const forbidden = { status: 403, json: { error_code: "PERMISSION_DENIED" } };
    expect(await post(own, "experiments/delete", { experiment_id: "1" })).toMatchObject(forbidden);
    expect(await post(own, "experiments/restore", { experiment_id: "1" })).toMatchObject(forbidden);
    expect(await post(own, "runs/create", {})).toMatchObject(forbidden);
    await newRun(own, { experiment_id: "1" });
  });

  test("runs have names, users, times and words for their status", async () => {
    const { api } = await stack().organization();
    const tags = [{ key: "mlflow.user", value: "u" }];
    const id = await newRun(api, { run_name: "r", user_id: "v", tags });
    const info = {
      run_name: "r",
      user_id: "u",
      status: "RUNNING",
      start_time: 1_700_000_000_000,
      lifecycle_stage: "active",
    };
    expect((await runOf(api, id)).info).toEqual({
      ...info,
      run_id: id,
      run_uuid: id,
      experiment_id: "0",
      artifact_uri: expect.any(String),
    });
    const ended = { run_id: id, status: "KILLED", end_time: "1700000001234", run_name: "s" };
    for (let sent = 0; sent < 2; sent++) {
      const { status, json } = await post(api, "runs/update", ended);
      expect([status, json.run_info]).toMatchObject([
        200,
        { status: "KILLED", end_time: 1_700_000_001_234, run_name: "s" },
      ]);
    }
    expect((await api.get(`/runs/${dashed(id)}`)).json.run).toMatchObject({ status: "failed", name: "s" });
    const again = (await post(api, "runs/update", { run_uuid: id, status: "SCHEDULED" })).json.run_info;
    expect(again.status).toBe("SCHEDULED");
    expect(again).not.toHaveProperty("end_time");
    await api.patch(`/runs/${dashed(id)}`, { status: "finished" });
    expect((await runOf(api, id)).info.status).toBe("FINISHED");
    const unnamed = await runOf(api, await newRun(api));
    expect(named(unnamed.data.tags)).toEqual({ "mlflow.runName": unnamed.info.run_name });
  });

  test("native runs are read as runs of MLflow", async () => {
    const { api } = await stack().organization();
    const config = { lr: 0.1, name: "x", nested: { a: [1, true] }, none: null };
    const { id } = (await api.post("/runs", { name: "n", project: "p", config, metadata: { notes: "hi", mlflow: 1 } }))
      .json.run;
    await api.post(`/runs/${id}/metrics`, { metrics: { loss: 2 }, step: 7 });
    const { info, data } = await runOf(api, id);
    expect(info).toMatchObject({ run_id: id.replaceAll("-", ""), experiment_id: "1", user_id: "", status: "RUNNING" });
    expect(named(data.params)).toEqual({ lr: "0.1", name: "x", nested: '{"a":[1,true]}', none: "null" });
    expect(named(data.tags)).toEqual({ "mlflow.runName": "n", "mlflow.note.content": "hi" });
    expect(data.metrics).toEqual([{ key: "loss", value: 2, step: 7 }]);
    await api.post(`/api/runs/${id}/stop`, {});
    expect((await runOf(api, id)).info.status).toBe("RUNNING");
  });

  test("what breaks a rule is refused, and nothing of it is stored", async () => {
    const { api } = await stack().organization();
    const id = await newRun(api);
    const before = await runOf(api, id);
    for (const [path, fields, text] of faulty) {
      const body = path === "create" ? fields : { run_id: id, ...fields };
      expect([path, text, await post(api, `runs/${path}`, body)]).toMatchObject([
        path,
        text,
        refused(containing(text)),
      ]);
    }
    expect(await runOf(api, id)).toEqual(before);
    expect((await api.get("/runs?limit=10")).json.runs).toHaveLength(1);
  });

  test("every route of a run answers a missing one, and one without an id", async () => {
    const { api } = await stack().organization();
    const absent = randomUUID().replaceAll("-", "");
    const fields = {
      key: "a",
      value: "1",
      timestamp: 1,
      status: "FINISHED",
      metric_key: "a",
      params: [{ key: "a", value: "b" }],
    };
    const paths = ["update", "log-batch", "log-metric", "log-parameter", "set-tag", "delete-tag", "delete", "restore"];
    for (const path of paths) {
      for (const run_id of [absent, "nonsense"])
        expect([path, await post(api, `runs/${path}`, { run_id, ...fields })]).toMatchObject([
          path,
          missing("run not found"),
        ]);
      expect([path, await post(api, `runs/${path}`, fields)]).toMatchObject([path, refused("run_id is required")]);
    }
    for (const path of ["runs/get", "metrics/get-history"]) {
      expect(await get(api, path, { run_id: absent, metric_key: "a" })).toMatchObject(missing("run not found"));
      expect(await get(api, path, { metric_key: "a" })).toMatchObject(refused("run_id is required"));
    }
    const id = await newRun(api);
    expect(await post(api, "runs/delete-tag", { run_id: id, key: "k" })).toMatchObject(missing("tag not found"));
  });

  test("a deleted run takes no writes, and can be deleted and restored again", async () => {
    const { api } = await stack().organization();
    const id = await newRun(api);
    const fields = {
      run_id: id,
      key: "a",
      value: "1",
      timestamp: 1,
      status: "FINISHED",
      params: [{ key: "a", value: "b" }],
    };
    const before = await runOf(api, id);
    for (let sent = 0; sent < 2; sent++) expect((await post(api, "runs/delete", { run_id: id })).json).toEqual({});
    for (const path of ["update", "log-batch", "log-metric", "log-parameter", "set-tag", "delete-tag"])
      expect([path, await post(api, `runs/${path}`, fields)]).toMatchObject([path, refused(containing("deleted"))]);
    expect(await runOf(api, id)).toEqual({ ...before, info: { ...before.info, lifecycle_stage: "deleted" } });
    for (let sent = 0; sent < 2; sent++) expect((await post(api, "runs/restore", { run_id: id })).json).toEqual({});
    expect(await runOf(api, id)).toEqual(before);
    await newRun(api);
    await post(api, "experiments/delete", { experiment_id: "0" });
    expect((await runOf(api, id)).info.lifecycle_stage).toBe("deleted");
    expect(await post(api, "runs/restore", { run_id: id })).toMatchObject(refused(containing("deleted")));
  });

  test("a batch is stored once, however often it is sent, with what is cut and what is not finite", async () => {
    const { api } = await stack().organization();
    const id = await newRun(api);
    const at = { timestamp: 1_700_000_000_000, step: 3 };
    const batch = {
      run_id: id,
      metrics: [
        { key: "loss", value: "NaN", ...at },
        { key: "loss", value: 1, ...at, step: "2" },
        { key: "loss", value: 1, ...at, step: 2 },
        { key: "top", value: "-Infinity", ...at },
        { key: "__proto__", value: "1e3", timestamp: at.timestamp },
      ],
      params: [
        { key: "long", value: "😀".repeat(6001) },
        { key: "nul", value: "a\0b\ud800" },
        { key: "empty" },
        { key: "n", value: "-0" },
      ],
      tags: [
        { key: "t", value: "x".repeat(8001) },
        { key: "t2", value: "a" },
        { key: "t2", value: "b" },
      ],
    };
    for (let sent = 0; sent < 3; sent++) expect((await post(api, "runs/log-batch", batch)).json).toEqual({});
    const { data } = await runOf(api, id);
    expect(data.metrics).toEqual([
      { key: "__proto__", value: 1000, step: 0 },
      { key: "loss", value: "NaN", step: 3 },
      { key: "top", value: "-Infinity", step: 3 },
    ]);
    expect(named(data.params)).toEqual({ long: "😀".repeat(6000), nul: "a\uFFFDb\uFFFD", empty: "", n: "-0" });
    expect(named(data.tags)).toMatchObject({ t: "x".repeat(8000), t2: "b" });
    const native = (await api.get(`/runs/${dashed(id)}/metrics?key=loss`)).json.metrics;
    expect(native).toHaveLength(2);
    const other = {
      run_id: id,
      metrics: [{ key: "new", value: 1, ...at }],
      params: [{ key: "empty", value: "other" }],
    };
    expect(await post(api, "runs/log-batch", { ...other, tags: [{ key: "new", value: "x" }] })).toMatchObject(
      refused(containing("empty")),
    );
    expect((await runOf(api, id)).data).toEqual(data);
    expect((await post(api, "runs/log-batch", { run_id: id })).json).toEqual({});
  });

  test("a tag set to a, b and a again ends as a", async () => {
    const { api } = await stack().organization();
    const id = await newRun(api);
    for (const value of ["a", "b", "a"]) await post(api, "runs/set-tag", { run_id: id, key: "k", value });
    expect(named((await runOf(api, id)).data.tags)["k"]).toBe("a");
    await api.patch(`/runs/${dashed(id)}`, { notes: "native" });
    expect(named((await runOf(api, id)).data.tags)["mlflow.note.content"]).toBe("native");
  });

  test("a history is paged by step, then time, and shows equal points once", async () => {
    const { api } = await stack().organization();
    const id = await newRun(api);
    const points = [5, 1, 1, 0, 3, 1].map((step, i) => ({ key: "m", step, value: i, timestamp: 1000 - i }));
    await post(api, "runs/log-batch", { run_id: id, metrics: points.slice(0, 3) });
    await post(api, "runs/log-batch", { run_id: id, metrics: points.slice(2) });
    const read = async (max_results: string): Promise<number[][][]> => {
      const pages: number[][][] = [];
      for (let page_token: string | undefined = ""; page_token !== undefined;) {
        const query = { run_id: id, metric_key: "m", max_results, ...(page_token === "" ? {} : { page_token }) };
        const { status, json } = await get(api, "metrics/get-history", query);
        expect(status).toBe(200);
        pages.push(
          json.metrics.map(({ step, timestamp, value }: Record<string, number>) => [step!, timestamp!, value!]),
        );
        page_token = json.next_page_token;
      }
      return pages;
    };
    const sorted = [
      [0, 997, 3],
      [1, 995, 5],
      [1, 998, 2],
      [1, 999, 1],
      [3, 996, 4],
      [5, 1000, 0],
    ];
    expect(await read("100")).toEqual([sorted]);
    for (const size of ["1", "2", "3", "5"]) {
      const all = (await read(size)).flat();
      expect(all.map(String).toSorted()).toEqual(sorted.map(String).toSorted());
      expect(all.map(([step]) => step)).toEqual([0, 1, 1, 1, 3, 5]);
    }
    for (const page_token of ["x", "1", "-1.0"])
      expect(await get(api, "metrics/get-history", { run_id: id, metric_key: "m", page_token })).toMatchObject(
        refused(containing("page_token")),
      );
    expect((await get(api, "metrics/get-history", { run_id: id, metric_key: "other" })).json).toEqual({});
  });
});

/** A run's id with its dashes. */
function dashed(id: string): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
