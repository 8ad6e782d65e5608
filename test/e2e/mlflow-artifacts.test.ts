import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Api, CallOptions } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const PREFIX = "/api/2.0/mlflow";
const ROOT = "/api/2.0/mlflow-artifacts/artifacts";
const hex = () => randomUUID().replaceAll("-", "");

describeModes("artifacts of MLflow", (stack) => {
  let api: Api;
  let experiment: string;
  beforeAll(async () => {
    ({ api } = await stack().organization({ scopes: ["sdk:ingest", "export:read", "runs:control"] }));
    experiment = (await api.post(`${PREFIX}/experiments/create`, { name: "files" })).json.experiment_id as string;
  });

  const newRun = async () =>
    (await api.post(`${PREFIX}/runs/create`, { experiment_id: experiment })).json.run.info.run_id as string;
  const newModel = async () =>
    (await api.post(`${PREFIX}/logged-models`, { experiment_id: experiment })).json.model.info.model_id as string;
  const put = (path: string, rawBody: string, options: CallOptions = {}) =>
    api.call("PUT", `${ROOT}/${path}`, { rawBody, ...options });
  const get = (path: string, headers: Record<string, string> = {}) => api.get(`${ROOT}/${path}`, { headers });
  const remove = (path: string) => api.call("DELETE", `${ROOT}/${path}`);
  const list = async (path: string) => (await api.get(`${ROOT}?path=${encodeURIComponent(path)}`)).json;
  const refused = (status: number, code: string) => ({ status, json: { error_code: code } });
  const invalid = refused(400, "INVALID_PARAMETER_VALUE");
  const missing = refused(404, "RESOURCE_DOES_NOT_EXIST");
  const done = { status: 200, json: {} };

  describe.each([
    ["a run", async () => `${experiment}/${await newRun()}/artifacts`],
    ["a logged model", async () => `${experiment}/models/${await newModel()}/artifacts`],
  ])("of %s", (_what, newRoot) => {
    test("are put, replaced, listed, read whole and in part, and deleted", async () => {
      const root = await newRoot();
      expect(await list(root)).toEqual({});
      expect(await put(`${root}/a/x.txt`, "first")).toMatchObject(done);
      expect(await put(`${root}/a/x.txt`, "the second")).toMatchObject(done);
      expect(await put(`${root}/a/b/${encodeURIComponent("é 日.json")}`, "{}")).toMatchObject(done);
      expect(await put(`${root}/empty`, "")).toMatchObject(done);
      expect(await list(root)).toEqual({
        files: [
          { path: "a", is_dir: true },
          { path: "empty", is_dir: false, file_size: 0 },
        ],
      });
      expect((await list(`${root}/a`)).files).toEqual(
        expect.arrayContaining([
          { path: "b", is_dir: true },
          { path: "x.txt", is_dir: false, file_size: 10 },
        ]),
      );
      expect(await list(`${root}/a/b`)).toEqual({ files: [{ path: "é 日.json", is_dir: false, file_size: 2 }] });
      for (const path of ["a/x.txt", "none"]) expect(await list(`${root}/${path}`)).toEqual({});

      expect(await get(`${root}/a/x.txt`)).toMatchObject({ status: 200, text: "the second" });
      expect(await get(`${root}/a/b/${encodeURIComponent("é 日.json")}`)).toMatchObject({ status: 200, text: "{}" });
      expect(await get(`${root}/empty`)).toMatchObject({ status: 200, text: "" });
      expect(await get(`${root}/a/x.txt`, { range: "bytes=4-5" })).toMatchObject({ status: 206, text: "se" });
      expect(await get(`${root}/a/x.txt`, { range: "bytes=99-" })).toMatchObject({
        status: 416,
        json: { error_code: "INVALID_PARAMETER_VALUE" },
      });
      for (const path of ["", "/a", "/none"]) expect(await get(root + path)).toMatchObject(missing);

      expect(await remove(`${root}/none`)).toMatchObject(done);
      expect(await remove(`${root}/empty`)).toMatchObject(done);
      expect(await remove(`${root}/a/b`)).toMatchObject(done);
      expect(await list(root)).toEqual({ files: [{ path: "a", is_dir: true }] });
      expect(await remove(root)).toMatchObject(done);
      expect(await list(root)).toEqual({});
    });

    test("are refused where the path or the request is wrong, and leave nothing behind", async () => {
      const root = await newRoot();
      const wrong = ["a//b", "a/..%2Fb", "%252e%252e/a", "a%5Cb", "a%255Cb", "a/%252E", "x".repeat(1025)];
      for (const path of wrong) expect([path, await put(`${root}/${path}`, "x")]).toMatchObject([path, invalid]);
      for (const path of wrong.slice(0, -1)) {
        expect(await get(`${root}/${path}`)).toMatchObject(invalid);
        expect(await remove(`${root}/${path}`)).toMatchObject(invalid);
        const asked = encodeURIComponent(`${root}/${decodeURIComponent(path)}`);
        expect(await api.get(`${ROOT}?path=${asked}`)).toMatchObject(invalid);
      }
      expect(await put(root, "x")).toMatchObject(invalid);
      expect(await put(`${root}/a`, "x", { headers: { "content-encoding": "gzip" } })).toMatchObject(invalid);
      expect(await api.get(ROOT)).toMatchObject(invalid);
      expect(await api.get(`${ROOT}?path=a&path=b`)).toMatchObject(invalid);
      expect(await list(root)).toEqual({});
    });

    test("are not found in another experiment, and elsewhere", async () => {
      const root = await newRoot();
      await put(`${root}/a`, "x");
      const { experiment_id: other } = (await api.post(`${PREFIX}/experiments/create`, { name: hex() })).json;
      const inside = root.slice(root.indexOf("/"));
      const roots = [`${other}${inside}`, `0${inside}`, `x${inside}`, `${experiment}/${hex()}/artifacts`, experiment];
      for (const place of [
        ...roots,
        `${experiment}/models/m-${hex()}/artifacts`,
        `${experiment}/traces/tr-1/artifacts`,
      ]) {
        expect([place, await put(`${place}/a`, "y")]).toMatchObject([place, missing]);
        expect(await get(`${place}/a`)).toMatchObject(missing);
        expect(await remove(`${place}/a`)).toMatchObject(missing);
        expect(await api.get(`${ROOT}?path=${place}`)).toMatchObject(missing);
      }
      expect(await get(`${root}/a`)).toMatchObject({ status: 200, text: "x" });
    });

    test("need the scope of what is done", async () => {
      const root = await newRoot();
      const denied = refused(403, "PERMISSION_DENIED");
      const { api: reader } = await stack().organization({ scopes: ["export:read"] });
      expect(await reader.call("PUT", `${ROOT}/${root}/a`, { rawBody: "x" })).toMatchObject(denied);
      const { api: writer } = await stack().organization({ scopes: ["sdk:ingest"] });
      expect(await writer.get(`${ROOT}/${root}/a`)).toMatchObject(denied);
      expect(await writer.get(`${ROOT}?path=${root}`)).toMatchObject(denied);
      expect(await writer.call("DELETE", `${ROOT}/${root}/a`)).toMatchObject(denied);
    });
  });

  test("of a run are its artifacts natively, and the other way", async () => {
    const run = await newRun();
    const root = `${experiment}/${run}/artifacts`;
    await put(`${root}/a/x.json`, "{}");
    await put(`${root}/a/x.json`, "[1]");
    const { artifacts } = (
      await api.get(`/api/runs/${run.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}/artifacts`)
    ).json;
    expect(artifacts).toMatchObject([{ name: "a/x.json", type: "file", size_bytes: 3, mime_type: "application/json" }]);
    const native = (await api.post("/runs", { project: "files" })).json.run.id as string;
    await api.post(`/api/runs/${native}/artifacts`, { name: "far", uri: "s3://b/k" });
    const asked = new URLSearchParams({ run_id: native, path: "" }).toString();
    expect((await api.get(`${PREFIX}/artifacts/list?${asked}`)).json).toEqual({
      root_uri: `mlflow-artifacts:/${experiment}/${native.replaceAll("-", "")}/artifacts`,
      files: [],
    });
  });

  test("are listed from the root of the run", async () => {
    const run_id = await newRun();
    const root = `${experiment}/${run_id}/artifacts`;
    await put(`${root}/a/b/c`, "x");
    const ask = (fields: Record<string, string>) =>
      api.get(`${PREFIX}/artifacts/list?${new URLSearchParams(fields).toString()}`);
    const root_uri = `mlflow-artifacts:/${root}`;
    expect((await ask({ run_id })).json).toEqual({ root_uri, files: [{ path: "a", is_dir: true }] });
    expect((await ask({ run_id, path: "a/b" })).json).toEqual({
      root_uri,
      files: [{ path: "a/b/c", is_dir: false, file_size: 1 }],
    });
    expect((await ask({ run_id, path: "a/b/c" })).json).toEqual({ root_uri, files: [] });
    expect(await ask({ run_id, path: "../a" })).toMatchObject(invalid);
    expect(await ask({})).toMatchObject(invalid);
    expect(await ask({ run_id: hex() })).toMatchObject(missing);
  });

  test("have names of at most 512 bytes in a run", async () => {
    const root = `${experiment}/${await newRun()}/artifacts`;
    expect(await put(`${root}/${"x".repeat(512)}`, "1")).toMatchObject(done);
    expect(await put(`${root}/${"x".repeat(513)}`, "1")).toMatchObject(invalid);
  });

  test("of a deleted run are neither written nor read", async () => {
    const run_id = await newRun();
    const root = `${experiment}/${run_id}/artifacts`;
    await put(`${root}/a`, "x");
    await api.post(`${PREFIX}/runs/delete`, { run_id });
    expect(await put(`${root}/a`, "y")).toMatchObject(invalid);
    expect(await remove(`${root}/a`)).toMatchObject(invalid);
    expect(await get(`${root}/a`)).toMatchObject(missing);
    expect(await api.get(`${ROOT}?path=${root}`)).toMatchObject(missing);
    await api.post(`${PREFIX}/runs/restore`, { run_id });
    expect(await get(`${root}/a`)).toMatchObject({ status: 200, text: "x" });
  });

  test("in parts and by signed addresses are not implemented", async () => {
    const refusal = refused(501, "NOT_IMPLEMENTED");
    for (const step of ["create", "complete", "abort"]) {
      expect(await api.post(`/api/2.0/mlflow-artifacts/mpu/${step}/a/b`, {})).toMatchObject(refusal);
    }
    expect(await api.get("/api/2.0/mlflow-artifacts/presigned/a/b")).toMatchObject(refusal);
    expect(await api.call("PATCH", `${ROOT}/a/b`)).toMatchObject(refused(405, "ENDPOINT_NOT_FOUND"));
  });
});
