import type { LineOf } from "@tidemark/archive";

const id = (n: number): string => `0c9b8a1e-0000-4000-8000-${String(n).padStart(12, "0")}`;
const at = "2026-01-02T03:04:05.000006Z";
const sha256 = "ab".repeat(32);

const runId = id(1);

/** A plain artifact whose bytes an installation keeps. */
export const artifact: LineOf<"artifact"> = {
  line: "artifact",
  id: id(2),
  run_id: runId,
  artifact_type: "file",
  name: "a.txt",
  step: 3,
  mime_type: "text/plain",
  size_bytes: 5,
  sha256,
  uri: undefined,
  metadata: '{"a":1.50}',
  created_at: at,
};

/** A collection. */
export const collection: LineOf<"collection"> = {
  line: "collection",
  id: id(3),
  project_id: id(4),
  collection_type: "model",
  name: "policy",
  description: "d",
  metadata: "{}",
  next_index: 2,
  created_at: at,
  updated_at: at,
};

/** A version of the collection. */
export const version: LineOf<"version"> = {
  line: "version",
  id: id(5),
  collection_id: collection.id,
  version_index: 1,
  digest: sha256,
  source_run_id: runId,
  source_step: undefined,
  file_count: 1,
  size_bytes: 5,
  state: "active",
  aliases: ["best"],
  ttl_days: undefined,
  retention_mode: "inherit",
  expires_at: undefined,
  delete_requested_at: undefined,
  deleted_at: undefined,
  purge_after: undefined,
  purged_at: undefined,
  audit_reason: undefined,
  created_at: at,
};

/** Entries of the version. */
export const entries: LineOf<"version.entries"> = {
  line: "version.entries",
  id: version.id,
  entries: [
    { id: id(6), path: "a/b", kind: "file", size_bytes: 5, sha256, mime_type: "text/plain", reference_uri: undefined },
  ],
};

/** Edges of the version. */
export const edges: LineOf<"version.edges"> = {
  line: "version.edges",
  id: version.id,
  edges: [{ id: id(7), run_id: runId, direction: "output", source: "sdk", created_at: at }],
};
