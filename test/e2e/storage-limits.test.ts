import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const STORAGE = 100_000;
const directory = mkdtempSync(join(tmpdir(), "tidemark-plans-"));
const plansFile = join(directory, "plans.json");
const lifted = { rate_limit_rps: 1000, rate_limit_burst: 5000, ingest_rate_limit_rps: 1000 };
writeFileSync(plansFile, JSON.stringify({ free: { ...lifted, included_storage_bytes: STORAGE } }));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const scopes = ["sdk:ingest", "export:read", "usage:read", "imports:write"];
const exceeded = { status: 402, json: { code: "plan_limit_exceeded" } };
const plain = (api: Api, runId: string, size: number, key = "") =>
  api.post(
    `/api/runs/${runId}/artifacts/upload`,
    { name: "a.bin", content_base64: Buffer.alloc(size, 7).toString("base64") },
    key === "" ? {} : { headers: { "idempotency-key": key } },
  );
const begin = (api: Api, runId: string, size: number) =>
  api.post(`/api/runs/${runId}/artifact-uploads`, {
    collection: { name: "policy", type: "model" },
    manifest: {
      entries: [
        {
          path: "a.bin",
          kind: "file",
          size_bytes: size,
          sha256: createHash("sha256").update(Buffer.alloc(size, 1)).digest("hex"),
        },
      ],
    },
  });
const usedBy = async (api: Api): Promise<number> =>
  (await api.get("/api/usage")).json.organizations[0].usage.storage_bytes_for_write_gate;

describeModes(
  "the storage of a plan",
  (stack) => {
    test("stops uploads that would exceed it; nothing of them stays, and what is there can be read", async () => {
      const { api } = await stack().organization({ plan: "free", scopes });
      const { id } = (await api.post("/runs", {})).json.run;
      const first = await plain(api, id, 60_000, "first");
      expect(first.status).toBe(200);
      const used = await usedBy(api);
      expect(await plain(api, id, STORAGE - used + 1)).toMatchObject(exceeded);
      expect(await begin(api, id, STORAGE - used + 1)).toMatchObject(exceeded);
      expect(await usedBy(api)).toBe(used);
      expect((await plain(api, id, 60_000, "first")).json).toEqual(first.json);
      expect((await api.get(`/api/artifacts/${first.json.artifact.id}/download`)).status).toBe(200);
      expect((await api.get(`/api/runs/${id}/artifacts`)).json.artifacts).toHaveLength(1);
    });

    test("counts uploads that have begun, until they are given up", async () => {
      const { api } = await stack().organization({ plan: "free", scopes });
      const { id } = (await api.post("/runs", {})).json.run;
      const upload = await begin(api, id, 70_000);
      expect(upload.status).toBe(200);
      expect(await plain(api, id, 40_000)).toMatchObject(exceeded);
      const session = upload.json.upload_session.id as string;
      expect((await api.post(`/api/artifact-uploads/${session}/abort`, {})).status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 1100));
      expect((await plain(api, id, 40_000)).status).toBe(200);
    });
  },
  { settings: { TIDEMARK_LIMITS: "on", TIDEMARK_PLANS_FILE: plansFile } },
);
