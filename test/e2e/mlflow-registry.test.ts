import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const PREFIX = "/api/2.0/mlflow";

describeModes("the model registry of MLflow", (stack) => {
  let api: Api;
  beforeEach(async () => {
    ({ api } = await stack().organization({ scopes: ["sdk:ingest", "export:read", "runs:control"] }));
  });

  const post = (path: string, body: object) => api.post(`${PREFIX}/${path}`, body);
  const get = (path: string, query: Record<string, string> = {}) =>
    api.get(`${PREFIX}/${path}?${new URLSearchParams(query).toString()}`);
  const send = (method: string, path: string, body: object) => api.call(method, `${PREFIX}/${path}`, { body });
  const refused = (status: number, code: string) => ({ status, json: { error_code: code } });
  const invalid = refused(400, "INVALID_PARAMETER_VALUE");
  const missing = refused(404, "RESOURCE_DOES_NOT_EXIST");
  const taken = refused(400, "RESOURCE_ALREADY_EXISTS");
  const done = { status: 200, json: {} };

  const register = (name: string, fields: object = {}) => post("registered-models/create", { name, ...fields });
  const addVersion = (name: string, fields: object = {}) =>
    post("model-versions/create", { name, source: "s3://elsewhere", ...fields });
  const newRun = async () => {
    const asked = { experiment_id: "0", user_id: "u", start_time: Date.now(), tags: [] };
    return (await post("runs/create", asked)).json.run.info.run_id as string;
  };
  const none = randomUUID().replaceAll("-", "");

  test("keeps registered models", async () => {
    const tags = [{ key: "a", value: "1" }];
    expect(await register("m", { description: "d", tags })).toMatchObject({
      status: 200,
      json: { registered_model: { name: "m", description: "d", tags, latest_versions: [], aliases: [] } },
    });
    expect(await register("m")).toMatchObject(taken);
    await register("other");
    for (const name of ["", "a/b", "a:b", "x".repeat(513)]) expect(await register(name)).toMatchObject(invalid);
    expect(await post("registered-models/rename", { name: "m", new_name: "other" })).toMatchObject(taken);
    expect(await post("registered-models/rename", { name: "m", new_name: "" })).toMatchObject(invalid);
    expect(await post("registered-models/rename", { name: "m", new_name: "n" })).toMatchObject({
      status: 200,
      json: { registered_model: { name: "n" } },
    });
    expect(await send("PATCH", "registered-models/update", { name: "n", description: "e" })).toMatchObject({
      status: 200,
    });
    const value = "x".repeat(100_000);
    expect(await post("registered-models/set-tag", { name: "n", key: "b", value })).toMatchObject(done);
    expect(await post("registered-models/set-tag", { name: "n", key: "b", value: `${value}x` })).toMatchObject(invalid);
    expect(await post("registered-models/set-tag", { name: "n", key: "", value: "" })).toMatchObject(invalid);
    expect(await send("DELETE", "registered-models/delete-tag", { name: "n", key: "a" })).toMatchObject(done);
    expect((await get("registered-models/get", { name: "n" })).json.registered_model).toMatchObject({
      description: "e",
      tags: [{ key: "b", value }],
    });
    expect(await send("DELETE", "registered-models/delete", { name: "n" })).toMatchObject(done);
    expect(await get("registered-models/get")).toMatchObject(invalid);
    for (const answer of [
      await get("registered-models/get", { name: "n" }),
      await send("DELETE", "registered-models/delete", { name: "n" }),
      await send("PATCH", "registered-models/update", { name: "n" }),
      await post("registered-models/rename", { name: "n", new_name: "m" }),
      await post("registered-models/set-tag", { name: "n", key: "a", value: "" }),
      await send("DELETE", "registered-models/delete-tag", { name: "n", key: "a" }),
      await post("registered-models/get-latest-versions", { name: "n" }),
      await addVersion("n"),
    ]) {
      expect(answer).toMatchObject(missing);
    }
  });

  test("numbers versions, which are ready immediately and have stages and tags", async () => {
    await register("m");
    const tags = [{ key: "a", value: "1" }];
    expect(await addVersion("m", { tags, description: "d", run_link: "l" })).toMatchObject({
      status: 200,
      json: {
        model_version: {
          name: "m",
          version: "1",
          status: "READY",
          current_stage: "None",
          source: "s3://elsewhere",
          run_link: "l",
          tags,
          description: "d",
          aliases: [],
        },
      },
    });
    for (let i = 0; i < 2; i += 1) await addVersion("m");
    const move = (version: string, stage: string, archive_existing_versions = false) =>
      post("model-versions/transition-stage", { name: "m", version, stage, archive_existing_versions });
    expect(await move("1", "Production")).toMatchObject({ json: { model_version: { current_stage: "Production" } } });
    expect(await move("2", "production", true)).toMatchObject({ status: 200 });
    for (const answer of [
      await move("1", "Shipped"),
      await move("1", "None", true),
      await move("1", ""),
      await move("x", "None"),
    ]) {
      expect(answer).toMatchObject(invalid);
    }
    const latest = async (body: object = {}) =>
      ((await post("registered-models/get-latest-versions", { name: "m", ...body })).json.model_versions ?? []).map(
        (version: { version: string; current_stage: string }) => [version.version, version.current_stage],
      );
    expect(await latest()).toEqual([
      ["1", "Archived"],
      ["2", "Production"],
      ["3", "None"],
    ]);
    expect(await latest({ stages: ["Production", "staging"] })).toEqual([["2", "Production"]]);
    expect(
      (await get("registered-models/get-latest-versions", { name: "m", stages: "None" })).json.model_versions,
    ).toHaveLength(1);
    expect(await post("registered-models/get-latest-versions", { name: "m", stages: ["x"] })).toMatchObject(invalid);
    const one = { name: "m", version: "1" };
    expect(await post("model-versions/set-tag", { ...one, key: "b", value: "2" })).toMatchObject(done);
    expect(await send("DELETE", "model-versions/delete-tag", { ...one, key: "a" })).toMatchObject(done);
    expect(await send("PATCH", "model-versions/update", { ...one, description: "e" })).toMatchObject({ status: 200 });
    expect((await get("model-versions/get", one)).json.model_version).toMatchObject({
      description: "e",
      tags: [{ key: "b", value: "2" }],
    });
    expect(await send("DELETE", "model-versions/delete", { name: "m", version: "3" })).toMatchObject(done);
    expect((await addVersion("m")).json.model_version.version).toBe("4");
    for (const version of ["3", "4294967296"]) {
      const gone = { name: "m", version };
      for (const answer of [
        await get("model-versions/get", gone),
        await get("model-versions/get-download-uri", gone),
        await send("PATCH", "model-versions/update", gone),
        await send("DELETE", "model-versions/delete", gone),
        await post("model-versions/set-tag", { ...gone, key: "a", value: "" }),
        await send("DELETE", "model-versions/delete-tag", { ...gone, key: "a" }),
        await move(version, "None"),
        await post("registered-models/alias", { ...gone, alias: "a" }),
      ]) {
        expect(answer).toMatchObject(missing);
      }
    }
  });

  test("keeps aliases", async () => {
    await register("m");
    await addVersion("m");
    const alias = (name: string) => ({ name: "m", alias: name });
    expect(await post("registered-models/alias", { ...alias("Champion"), version: "1" })).toMatchObject(done);
    expect((await get("registered-models/alias", alias("Champion"))).json.model_version).toMatchObject({
      version: "1",
      aliases: ["Champion"],
    });
    expect((await get("registered-models/get", { name: "m" })).json.registered_model.aliases).toEqual([
      { alias: "Champion", version: "1" },
    ]);
    for (const name of ["latest", "v1", "V12", "a/b", "a:b", "", "x".repeat(256)]) {
      expect(await post("registered-models/alias", { ...alias(name), version: "1" })).toMatchObject(invalid);
    }
    expect(await send("DELETE", "registered-models/alias", alias("Champion"))).toMatchObject(done);
    expect(await send("DELETE", "registered-models/alias", alias("Champion"))).toMatchObject(done);
    expect(await get("registered-models/alias", alias("Champion"))).toMatchObject(invalid);
    expect(await get("registered-models/alias", { name: "n", alias: "a" })).toMatchObject(missing);
  });

  test("takes versions of runs, of logged models and of other versions", async () => {
    await register("m");
    const run_id = await newRun();
    const { info } = (await post("logged-models", { experiment_id: "0", source_run_id: run_id })).json.model;
    const ofModel = { source: `models:/${info.model_id}`, model_id: info.model_id };
    expect((await addVersion("m", ofModel)).json.model_version).toMatchObject({
      run_id,
      model_id: info.model_id,
      source: ofModel.source,
    });
    expect((await get("model-versions/get-download-uri", { name: "m", version: "1" })).json).toEqual({
      artifact_uri: info.artifact_uri,
    });
    await register("copy");
    expect(await addVersion("copy", { source: "models:/m/1" })).toMatchObject({ status: 200 });
    expect((await get("model-versions/get-download-uri", { name: "copy", version: "1" })).json).toEqual({
      artifact_uri: info.artifact_uri,
    });
    const source = `mlflow-artifacts:/0/${run_id}/artifacts/model`;
    expect(await addVersion("m", { source, run_id })).toMatchObject({
      status: 200,
      json: { model_version: { run_id, source } },
    });
    expect((await get("model-versions/get-download-uri", { name: "m", version: "2" })).json).toEqual({
      artifact_uri: source,
    });
    for (const wrong of [
      { source: "" },
      { source },
      { source, run_id: await newRun() },
      { source: `models:/${info.model_id}`, model_id: `m-${none}` },
      { tags: [{ key: "", value: "" }] },
    ]) {
      expect(await addVersion("m", wrong)).toMatchObject(invalid);
    }
    for (const wrong of [{ run_id: none }, { model_id: `m-${none}` }, { source: `models:/m-${none}` }]) {
      expect(await addVersion("m", wrong)).toMatchObject(missing);
    }
  });

  test("is searched by filters and in orders, page by page; prompts are apart", async () => {
    const prompt = [{ key: "mlflow.prompt.is_prompt", value: "true" }];
    await register("b");
    await register("a", { tags: [{ key: "team", value: "x" }] });
    await register("p", { tags: prompt });
    await post("registered-models/set-tag", { name: "b", key: "last", value: "changed" });
    const run_id = await newRun();
    await addVersion("a", { source: "s3://x" });
    await addVersion("b", { run_id });
    await addVersion("b", { tags: [{ key: "k", value: "v" }] });
    const models = async (query: Record<string, string> = {}) => {
      const { json } = await get("registered-models/search", query);
      return (json.registered_models ?? []).map(({ name }: { name: string }) => name);
    };
    expect(await models()).toEqual(["a", "b", "p"]);
    const isNoPrompt = "tag.`mlflow.prompt.is_prompt` != 'true'";
    expect(await models({ filter: isNoPrompt })).toEqual(["a", "b"]);
    expect(await models({ filter: `name LIKE 'a%' AND ${isNoPrompt}` })).toEqual(["a"]);
    expect(await models({ filter: "tags.`mlflow.prompt.is_prompt` = 'true'" })).toEqual(["p"]);
    expect(await models({ filter: "tags.team != 'y'" })).toEqual(["a"]);
    expect(await models({ order_by: "name DESC" })).toEqual(["p", "b", "a"]);
    expect(await models({ order_by: "timestamp DESC", max_results: "1" })).toEqual(["b"]);
    const first = (await get("registered-models/search", { max_results: "2" })).json;
    expect(await models({ max_results: "2", page_token: first.next_page_token })).toEqual(["p"]);
    expect(await get("registered-models/search", { filter: "name = 'none'" })).toMatchObject(done);

    const versions = async (query: Record<string, string> = {}) => {
      const { json } = await get("model-versions/search", query);
      return (json.model_versions ?? []).map(({ name, version }: { name: string; version: string }) => name + version);
    };
    expect(await versions()).toEqual(["b2", "b1", "a1"]);
    expect(await versions({ filter: "name = 'b'", order_by: "version_number ASC" })).toEqual(["b1", "b2"]);
    expect(await versions({ filter: `run_id = '${run_id}'` })).toEqual(["b1"]);
    expect(await versions({ filter: `run_id IN ('${run_id}', '${none}')` })).toEqual(["b1"]);
    expect(await versions({ filter: "source_path = 's3://x'" })).toEqual(["a1"]);
    expect(await versions({ filter: "version_number > 1" })).toEqual(["b2"]);
    expect(await versions({ filter: "tags.k = 'v'" })).toEqual(["b2"]);
    const page = (await get("model-versions/search", { max_results: "2" })).json;
    expect(await versions({ max_results: "2", page_token: page.next_page_token })).toEqual(["a1"]);
    const wrong: Record<string, string>[] = [
      { filter: "color = 'x'" },
      { filter: "name IN ('a')" },
      { order_by: "color" },
      { max_results: "0" },
      { page_token: "foreign" },
    ];
    for (const query of wrong) {
      expect(await get("registered-models/search", query)).toMatchObject(invalid);
      expect(await get("model-versions/search", query)).toMatchObject(invalid);
    }
    expect(await get("registered-models/search", { max_results: "1001" })).toMatchObject(invalid);
    expect(await get("model-versions/search", { max_results: "200001" })).toMatchObject(invalid);
    expect(await get("model-versions/search", { page_token: first.next_page_token })).toMatchObject(invalid);
  });

  test("needs the scopes of reading, writing and deleting", async () => {
    await register("m");
    const { api: reader } = await stack().organization({ scopes: ["export:read"] });
    const { api: writer } = await stack().organization({ scopes: ["sdk:ingest"] });
    const denied = refused(403, "PERMISSION_DENIED");
    expect(await reader.post(`${PREFIX}/registered-models/create`, { name: "x" })).toMatchObject(denied);
    expect(await reader.post(`${PREFIX}/logged-models`, {})).toMatchObject(denied);
    expect(await writer.get(`${PREFIX}/registered-models/search`)).toMatchObject(denied);
    expect(await writer.post(`${PREFIX}/logged-models/search`, {})).toMatchObject(denied);
    const body = { name: "m", version: "1" };
    expect(await writer.call("DELETE", `${PREFIX}/registered-models/delete`, { body })).toMatchObject(denied);
    expect(await writer.call("DELETE", `${PREFIX}/model-versions/delete`, { body })).toMatchObject(denied);
    expect(await writer.call("DELETE", `${PREFIX}/logged-models/m-${none}`)).toMatchObject(denied);
    expect(await api.as(null).get(`${PREFIX}/registered-models/search`)).toMatchObject(refused(401, "UNAUTHENTICATED"));
  });
});
