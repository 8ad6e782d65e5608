import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requireServers, until } from "@tidemark/testkit";
import { request } from "undici";
import { describeWith } from "../stack/describe-with.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { downloadedHash, downloadedHashes, fileOf, insist, storePlain, storeVersion } from "./store-files.ts";

const servers = await requireServers(["nats-server", "minio"]);

describeWith(servers)("while the object store is stopped", () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack("split", { settings: { TIDEMARK_S3_PUBLIC_ENDPOINT: "" } });
  });
  afterAll(() => stack.stop());

  test("requests that need bytes are 503 with Retry-After, everything else works, and all recovers by itself", async () => {
    const { api, key } = await stack.organization();
    const runId = (await api.post("/runs", {})).json.run.id;
    const storer = { api, runId, ask: insist };
    const files = [fileOf("small.txt", 100), fileOf("middle.bin", 300_000)];
    const versionId = await storeVersion(storer, "before", files);
    const plainId = await storePlain(storer, files[1]!);
    const { entries } = (await api.get(`/api/artifact-versions/${versionId}/manifest`)).json;
    const { collection_id: collectionId } = (await api.get(`/api/artifact-versions/${versionId}`)).json
      .artifact_version;
    const later = fileOf("later.bin", 300_000);
    const manifest = { entries: [{ path: later.path, size_bytes: later.bytes.length, sha256: later.sha256 }] };
    const begin = (name: string) =>
      api.post(`/api/runs/${runId}/artifact-uploads`, { collection: { name, type: "model" }, manifest });
    const open = (await begin("after")).json;
    const put = async () => {
      const [part] = open.files[0].parts;
      const answer = await request(part.url, { method: "PUT", headers: part.required_headers, body: later.bytes });
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: answer.headers, text, json: text === "" ? {} : JSON.parse(text) };
    };
    const complete = () =>
      api.post(`/api/artifact-uploads/${open.upload_session.id}/complete`, {
        files: [{ entry_id: open.files[0].entry_id }],
      });
    const plain = () =>
      api.post(`/api/runs/${runId}/artifacts/upload`, { name: "x", content_base64: later.bytes.toString("base64") });
    await stack.minio!.stop();

    const failing = {
      "a download of a plain artifact": () => api.get(`/api/artifacts/${plainId}/download`),
      "a download of an entry": () => api.get(`/api/artifact-entries/${entries[0].id}/download`),
      "a plain upload": plain,
      "the beginning of an upload": () => begin("meanwhile"),
      "a part": put,
      "a completion": complete,
    };
    for (const [what, fail] of Object.entries(failing)) {
      const { status, headers, json } = await fail();
      expect([what, status, json]).toEqual([what, 503, { error: expect.any(String), code: "service_unavailable" }]);
      expect(headers["retry-after"]).toEqual(expect.stringMatching(/^\d+$/));
    }
    const working = {
      "the version": () => api.get(`/api/artifact-versions/${versionId}`),
      "its manifest": () => api.get(`/api/artifact-versions/${versionId}/manifest`),
      "its lineage": () => api.get(`/api/artifact-versions/${versionId}/lineage`),
      "its name": () => api.get("/api/artifact-versions/resolve?ref=model/before"),
      "its collection": () => api.get(`/api/artifact-collections/${collectionId}`),
      "all collections": () => api.get("/api/artifact-collections"),
      "plain artifacts": () => api.get(`/api/runs/${runId}/artifacts`),
      "an input": () => api.post(`/api/runs/${runId}/artifact-inputs`, { artifact_version_id: versionId }),
      "an artifact elsewhere": () => api.post(`/api/runs/${runId}/artifacts`, { name: "y", uri: "s3://b/y" }),
      "a new run": () => api.post("/runs", {}),
      "a metric": () => api.post(`/runs/${runId}/metrics`, { metrics: { a: 1 }, step: 0 }),
    };
    for (const [what, work] of Object.entries(working)) expect([what, (await work()).status]).toEqual([what, 200]);

    await stack.minio!.start();
    expect(await downloadedHash(stack.baseUrl, key, `/api/artifacts/${plainId}/download`)).toBe(files[1]!.sha256);
    expect(Object.values(await downloadedHashes(api, key, versionId)).toSorted()).toEqual(
      files.map(({ sha256 }) => sha256).toSorted(),
    );
    expect((await plain()).status).toBe(200);
    // The completion was accepted and has failed by now, or waits for its turn.
    const done = await until("the upload to be complete", async () => {
      if ((await complete()).status === 200) return complete();
      await put();
      return undefined;
    });
    expect(await downloadedHashes(api, key, done.json.artifact_version.id)).toEqual({ [later.path]: later.sha256 });
  });
});
