import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requireServers, rounds, until } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { queryDatabase } from "../stack/attach.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { downloadedHashes, fileOf, insist, storeVersion, type File } from "./store-files.ts";

const servers = await requireServers(["nats-server", "minio"]);

const CLIENTS = 4;

describeWith(servers)("the artifacts service", () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack("split", { settings: { TIDEMARK_REMOVAL_SECONDS: "1" } });
  });
  afterAll(() => stack.stop());

  test("killed while clients upload: every acknowledged version is whole, each upload is one version, and counters are exact", async () => {
    const { api, orgId, key } = await stack.organization();
    const runId = (await api.post("/runs", {})).json.run.id;
    const stored = new Map<string, readonly File[]>();
    let uploading = true;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let turn = 0; uploading; turn += 1) {
        const files = [fileOf("small.txt", 100), fileOf("large.bin", 300_000 + turn)];
        stored.set(await storeVersion({ api, runId, ask: insist }, `of client ${client}`, files), files);
      }
    });
    for (let kill = 0; kill < rounds(4); kill += 1) {
      const before = stored.size;
      await until("some versions", () => stored.size > before + 5);
      await stack.restart("artifacts");
    }
    uploading = false;
    await Promise.all(clients);

    for (const [id, files] of stored) {
      expect(await downloadedHashes(api, key, id)).toEqual(
        Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256])),
      );
    }
    const [counted] = await queryDatabase<Record<string, string>>(
      stack,
      `SELECT (SELECT count(*) FROM artifacts.versions WHERE org_id = $1)::text AS versions,
         (SELECT sum(size_bytes) FROM artifacts.versions WHERE org_id = $1)::text AS bytes,
         (SELECT count(*) FROM artifacts.objects WHERE org_id = $1 AND state = 'stored')::text AS objects`,
      [orgId],
    );
    const bytes = [...stored.values()].flat().reduce((sum, file) => sum + file.bytes.length, 0);
    expect(counted).toEqual({ versions: String(stored.size), bytes: String(bytes), objects: String(2 * stored.size) });
    const [storage] = await queryDatabase<Record<string, string>>(
      stack,
      `SELECT version_bytes::text, versions_active::text, reserved_bytes::text, pending_delete_bytes::text
       FROM artifacts.usage_v1 WHERE org_id = $1`,
      [orgId],
    );
    expect(storage).toEqual({
      version_bytes: String(bytes),
      versions_active: String(stored.size),
      reserved_bytes: "0",
      pending_delete_bytes: "0",
    });
  });
});
