import { createHash, randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Answer, Api } from "../stack/client.ts";
import { createImport } from "../stack/imports.ts";
import { describeModes } from "../stack/modes.ts";
import { FREE, smallPlans } from "../stack/settings.ts";
import { queryDatabase } from "../stack/attach.ts";

const { included_storage_bytes: LIMIT } = FREE;
const scopes = ["sdk:ingest", "artifacts:write", "artifacts:manage", "imports:write", "export:read", "usage:read"];
const exceeded = { status: 402, json: { code: "plan_limit_exceeded", error: expect.any(String) } };
/** Bytes that a row of an artifact counts for. */
const ROW = 512;

const fine = (answer: Answer): Answer => {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
};
const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const manifestOf = (...files: readonly Buffer[]) => ({
  collection: { name: "policy", type: "model" },
  manifest: {
    entries: files.map((bytes, i) => ({ path: `f${i}`, size_bytes: bytes.length, sha256: sha256Of(bytes) })),
  },
});

describeModes(
  "the quota of storage",
  (stack) => {
    const fresh = async () => {
      const { api, orgId } = await stack().organization({ plan: "free", scopes });
      const runId: string = fine(await api.post("/runs", {})).json.run.id;
      const usedOf = async (): Promise<number> =>
        fine(await api.get("/api/usage")).json.organizations[0].usage.storage_bytes_for_write_gate;
      const upload = (bytes: Buffer, headers: Record<string, string> = {}) =>
        api.post(
          `/api/runs/${runId}/artifacts/upload`,
          { name: "a.bin", content_base64: bytes.toString("base64") },
          { headers },
        );
      const begin = (...files: readonly Buffer[]) =>
        api.post(`/api/runs/${runId}/artifact-uploads`, manifestOf(...files));
      /** How many rows and objects of the store the organization has. */
      const kept = async () => {
        const [rows] = await queryDatabase<Record<string, string>>(
          stack(),
          `SELECT (SELECT count(*) FROM artifacts.artifacts WHERE org_id = $1)::text AS artifacts,
                  (SELECT count(*) FROM artifacts.upload_sessions WHERE org_id = $1)::text AS uploads,
                  (SELECT count(*) FROM artifacts.collections WHERE org_id = $1)::text AS collections,
                  (SELECT count(*) FROM artifacts.objects WHERE org_id = $1 AND size_bytes IS NOT NULL)::text AS objects,
                  (SELECT count(*) FROM imports.chunks WHERE org_id = $1)::text AS chunks,
                  (SELECT count(*) FROM imports.archives WHERE org_id = $1)::text AS archives`,
          [orgId],
        );
        return rows;
      };
      return { api, orgId, runId, usedOf, upload, begin, kept };
    };
    /** Fills an organization so far that `left` bytes are left. */
    const fill = async ({ usedOf, upload }: Awaited<ReturnType<typeof fresh>>, left: number) => {
      fine(await upload(randomBytes(LIMIT - left - ROW - (await usedOf()))));
      expect(await usedOf()).toBe(LIMIT - left);
    };

    test("a file fits exactly, and one byte more does not and leaves nothing", async () => {
      const org = await fresh();
      await fill(org, 1000 + ROW);
      const before = await org.kept();
      expect(await org.upload(randomBytes(1001))).toMatchObject(exceeded);
      expect(await org.kept()).toEqual(before);
      expect((await org.upload(randomBytes(1000))).status).toBe(200);
      expect(await org.usedOf()).toBe(LIMIT);
      expect(await org.upload(randomBytes(1))).toMatchObject(exceeded);
      expect(await org.api.post(`/api/runs/${org.runId}/artifacts`, { name: "far", uri: "s3://b/far" })).toMatchObject(
        exceeded,
      );
    });

    test("of a file that is stored while it arrives nothing stays, with and without its length", async () => {
      const org = await fresh();
      await fill(org, 100_000);
      const before = await org.kept();
      const large = randomBytes(150_000);
      expect(await org.upload(large)).toMatchObject(exceeded);
      expect(await org.upload(randomBytes(3_000_000))).toMatchObject(exceeded);
      const body = JSON.stringify({ name: "a.bin", content_base64: large.toString("base64") });
      async function* pieces() {
        for (let at = 0; at < body.length; at += 10_000) yield Buffer.from(body.slice(at, at + 10_000));
      }
      const streamed = await org.api.call("POST", `/api/runs/${org.runId}/artifacts/upload`, {
        rawBody: pieces() as unknown as Uint8Array,
      });
      expect(streamed).toMatchObject(exceeded);
      // The same by MLflow.
      const id = org.runId.replaceAll("-", "");
      const { info } = fine(await org.api.get(`/api/2.0/mlflow/runs/get?run_id=${id}`)).json.run;
      async function* bytes() {
        for (let at = 0; at < large.length; at += 10_000) yield large.subarray(at, at + 10_000);
      }
      const path = `/api/2.0/mlflow-artifacts/artifacts/${info.experiment_id}/${id}/artifacts/a.bin`;
      for (const rawBody of [large, bytes() as unknown as Uint8Array]) {
        const refused = await org.api.call("PUT", path, { rawBody });
        expect(refused).toMatchObject({ status: 402, json: { error_code: "PERMISSION_DENIED" } });
      }
      expect(await org.kept()).toEqual(before);
      expect(await org.usedOf()).toBe(LIMIT - 100_000);
      const [{ unswept }] = (await queryDatabase<{ unswept: number }>(
        stack(),
        "SELECT count(*)::int AS unswept FROM artifacts.objects WHERE org_id = $1 AND state = 'unneeded'",
        [org.orgId],
      )) as [{ unswept: number }];
      expect(unswept).toBe(0);
    });

    test("an upload counts from its beginning with what it declares; ended, it counts no longer", async () => {
      const org = await fresh();
      await fill(org, 100_000);
      const files = [randomBytes(60_000), randomBytes(40_000)];
      const begun = fine(await org.begin(...files)).json;
      expect(await org.usedOf()).toBe(LIMIT);
      const before = await org.kept();
      const other = {
        ...manifestOf(randomBytes(1)),
        collection: { name: "other", type: "model" },
      };
      expect(await org.api.post(`/api/runs/${org.runId}/artifact-uploads`, other)).toMatchObject(exceeded);
      expect(await org.kept()).toEqual(before);
      fine(await org.api.post(`/api/artifact-uploads/${begun.upload_session.id}/abort`, {}));
      expect(await org.usedOf()).toBe(LIMIT - 100_000);
      await until("room", async () => (await org.begin(...files)).status === 200);
    });

    test("an upload whose bytes were reserved is completed at the limit, and its version counts once", async () => {
      const org = await fresh();
      await fill(org, 1000);
      const bytes = randomBytes(1000);
      const { upload_session: session, files } = fine(await org.begin(bytes)).json;
      expect(await org.upload(randomBytes(1))).toMatchObject(exceeded);
      const sent = [{ entry_id: files[0].entry_id, content_base64: bytes.toString("base64") }];
      fine(await org.api.post(`/api/artifact-uploads/${session.id}/complete`, { files: sent }));
      expect(await org.usedOf()).toBe(LIMIT);
      // The same files again add nothing new.
      expect((await org.begin(bytes)).json).toMatchObject({ deduplicated: true });
    });

    test("a repeat gets its first answer at the limit; reads and deletes continue, and what is deleted makes room", async () => {
      const org = await fresh();
      await fill(org, 200_000 + ROW);
      const [bytes, key] = [randomBytes(200_000), { "idempotency-key": randomUUID() }];
      const first = fine(await org.upload(bytes, key));
      expect(await org.upload(randomBytes(200_000))).toMatchObject(exceeded);
      const again = await org.upload(bytes, key);
      expect(again).toMatchObject({ status: 200, json: first.json, headers: { "idempotency-replayed": "true" } });
      const { id } = first.json.artifact;
      expect((await org.api.get(`/api/artifacts/${id}/download`)).status).toBe(200);
      expect((await org.api.call("DELETE", `/api/artifacts/${id}`)).status).toBe(200);
      await until("the bytes to be removed", async () => (await org.usedOf()) < LIMIT - 200_000);
      await until("room", async () => (await org.upload(randomBytes(200_000))).status === 200);
    });

    test("a larger plan makes room immediately", async () => {
      const org = await fresh();
      await fill(org, 0);
      expect(await org.upload(randomBytes(1))).toMatchObject(exceeded);
      const operator = { key: null, headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
      fine(await org.api.patch(`/api/orgs/${org.orgId}`, { plan_tier: "pro" }, operator));
      expect((await org.upload(randomBytes(1))).status).toBe(200);
    });

    describe("what is staged", () => {
      const chunk = { runs: [{ source_run_id: "a", config: { noise: randomBytes(3000).toString("base64") } }] };
      const restore = (api: Api, rawBody: string) =>
        api.post("/api/imports/archive", undefined, {
          rawBody,
          headers: { "content-type": "application/x-ndjson", "idempotency-key": randomUUID() },
        });

      test("of an import counts until its end", async () => {
        const org = await fresh();
        const job = await createImport(org.api);
        const before = await org.usedOf();
        fine(await job.put(chunk));
        expect(await org.usedOf()).toBeGreaterThan(before + 2000);
        fine(await org.api.post(`${job.path}/cancel`));
        expect(await org.usedOf()).toBe(before);
      });

      test("of an import is refused above the limit, and nothing of it stays", async () => {
        const org = await fresh();
        await fill(org, 1000);
        const job = await createImport(org.api);
        const small = { runs: [{ source_run_id: "a" }] };
        fine(await job.put(small));
        const kept = await org.kept();
        expect((await job.put(chunk)).json.code).toBe("plan_limit_exceeded");
        const wandb = { project: "p", runs: [{ id: "w", config: chunk.runs[0]!.config, history: [{ loss: 1 }] }] };
        expect(await org.api.post("/api/imports/wandb", wandb)).toMatchObject(exceeded);
        expect(await org.kept()).toEqual(kept);
        const { imports } = (await org.api.get("/api/imports")).json;
        expect(imports).toMatchObject([{ id: job.id, accepted_chunk_count: 1 }]);
        // The chunk that is there is answered.
        const repeated = await job.put(small, { chunk_id: "chunk-0", sequence: 0 });
        expect(repeated).toMatchObject({ status: 200, json: { duplicate: true } });
      });

      test("of an archive is refused above the limit, and nothing of it stays", async () => {
        const source = await stack().organization({ plan: "pro", scopes });
        const config = { noise: Array.from({ length: 300 }, () => randomBytes(300).toString("base64")) };
        const run = fine(await source.api.post("/runs", { project: "p", config })).json.run.id;
        const content = { name: "a.bin", content_base64: randomBytes(5000).toString("base64") };
        const { sha256 } = fine(await source.api.post(`/api/runs/${run}/artifacts/upload`, content)).json.artifact;
        const { text } = fine(await source.api.get("/api/export?format=ndjson&project=p"));
        const org = await fresh();
        await fill(org, 5000);
        const before = await org.kept();
        expect(await restore(org.api, text)).toMatchObject(exceeded);
        expect(await org.kept()).toEqual(before);
        expect(await org.usedOf()).toBe(LIMIT - 5000);

        // With room for its rows and not for its bytes, these are refused.
        const roomy = await fresh();
        const restored = fine(await restore(roomy.api, text)).json;
        await fill(roomy, 4999);
        const path = `/api/imports/archive/${restored.archive_id}/bytes/${sha256}`;
        const bytes = {
          rawBody: Buffer.from(content.content_base64, "base64"),
          headers: { "content-type": "application/octet-stream" },
        };
        expect(await roomy.api.call("PUT", path, bytes)).toMatchObject(exceeded);
        expect(await roomy.usedOf()).toBe(LIMIT - 4999);
      });
    });
  },
  smallPlans,
);
