import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { until } from "@tidemark/testkit";
import { queryDatabase } from "../stack/attach.ts";
import type { OwnStack } from "../stack/stack.ts";

const BUCKET = "tidemark";

/** Folders under `root`, as relative paths; `depth` names are needed to tell them apart. */
async function foldersIn(root: string, depth: number): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => path.split(sep).length === depth);
}

/** Keys of all objects that MinIO has, in its own folder: what S3 lists could leave something out. */
export async function storedKeys({ minio }: OwnStack): Promise<string[]> {
  const keys = await foldersIn(join(minio!.directory, "objects", BUCKET), 3);
  return keys.map((path) => path.split(sep).join("/")).toSorted();
}

/** Uploads in parts that MinIO has and that were neither finished nor ended. */
export async function unfinishedUploads({ minio }: OwnStack): Promise<string[]> {
  return foldersIn(join(minio!.directory, "objects/.minio.sys/multipart"), 2);
}

/** Lets everything with a time limit expire, and waits until the sweeper has run. Uploads that are being verified finish first. */
export async function letTimePass(stack: OwnStack): Promise<void> {
  const count = async (rows: string): Promise<number> =>
    (await queryDatabase<{ count: number }>(stack, `SELECT count(*)::int AS count FROM artifacts.${rows}`))[0]!.count;
  const VERIFIED = "upload_sessions WHERE state IN ('completing', 'provider_completed')";
  await until("verification to end", async () => (await count(VERIFIED)) === 0);
  await queryDatabase(stack, "UPDATE artifacts.upload_sessions SET expires_at = now() WHERE state = 'uploading'");
  await queryDatabase(stack, "UPDATE artifacts.objects SET sweep_after = now() WHERE state <> 'stored'");
  await until("uploads to be swept", async () => (await count("upload_sessions WHERE state = 'uploading'")) === 0);
  await until("objects to be swept", async () => (await count("objects WHERE state <> 'stored'")) === 0);
}

/** Returns the keys of all objects that rows refer to. */
export async function neededKeys(stack: OwnStack): Promise<string[]> {
  const rows = await queryDatabase<{ key: string }>(
    stack,
    `SELECT 'o/' || org_id || '/' || object_id AS key FROM artifacts.artifacts WHERE object_id IS NOT NULL
     UNION SELECT 'o/' || org_id || '/' || object_id FROM artifacts.entries WHERE object_id IS NOT NULL`,
  );
  return rows.map(({ key }) => key).toSorted();
}

const COUNTERS = `artifact_bytes, version_bytes, pending_delete_bytes, reserved_bytes, artifacts, unknown_sizes, collections, versions_active, versions_pending_delete`;

/** Returns the storage of all organizations: what their counters say, and what counting their rows says. No version is deleted. */
export async function storage(stack: OwnStack): Promise<{ readonly counters: unknown[]; readonly counted: unknown[] }> {
  const counters = await queryDatabase(stack, `SELECT org_id, ${COUNTERS} FROM artifacts.usage_v1 ORDER BY org_id`);
  const counted = await queryDatabase(
    stack,
    `SELECT s.org_id,
       (SELECT coalesce(sum(size_bytes), 0)::bigint FROM artifacts.artifacts a WHERE a.org_id = s.org_id) AS artifact_bytes,
       (SELECT coalesce(sum(size_bytes), 0)::bigint FROM artifacts.versions v WHERE v.org_id = s.org_id) AS version_bytes,
       0::bigint AS pending_delete_bytes, 0::bigint AS reserved_bytes,
       (SELECT count(*) FROM artifacts.artifacts a WHERE a.org_id = s.org_id) AS artifacts,
       (SELECT count(*) FROM artifacts.artifacts a WHERE a.org_id = s.org_id AND a.size_bytes IS NULL) AS unknown_sizes,
       (SELECT count(*) FROM artifacts.collections c WHERE c.org_id = s.org_id) AS collections,
       (SELECT count(*) FROM artifacts.versions v WHERE v.org_id = s.org_id) AS versions_active,
       0::bigint AS versions_pending_delete
     FROM artifacts.usage_v1 s ORDER BY s.org_id`,
  );
  return { counters, counted };
}
