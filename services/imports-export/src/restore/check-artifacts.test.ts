import { describe, expect, test } from "@jest/globals";
import type { ArchiveLine } from "@tidemark/archive";
import { checkArtifacts } from "./check-artifacts.rules.ts";
import { artifact, collection, edges, entries, version } from "./artifact-lines.fixture.ts";

const entry = entries.entries[0]!;
const edge = edges.edges[0]!;

describe("a line of artifacts", () => {
  test.each([artifact, collection, version, entries, edges])("of the kind $line passes", (line) => {
    expect(() => checkArtifacts(line)).not.toThrow();
  });

  const wrong: [string, ArchiveLine][] = [
    ["an unknown type", { ...artifact, artifact_type: "dir" }],
    ["a name of 513 bytes", { ...artifact, name: "é".repeat(256) + "x" }],
    ["a character that is not stored", { ...artifact, name: "a\0" }],
    ["a negative step", { ...artifact, step: -1 }],
    ["bytes without a hash", { ...artifact, sha256: undefined }],
    ["bytes without a size", { ...artifact, size_bytes: undefined }],
    ["metadata that is not an object", { ...artifact, metadata: "[1]" }],
    ["a day that there is not", { ...artifact, created_at: "2026-02-30T00:00:00Z" }],
    ["the year 0", { ...artifact, created_at: "0000-01-01T00:00:00Z" }],
    ["an unknown type of collection", { ...collection, collection_type: "x" }],
    ["an index that is too large", { ...collection, next_index: 2 ** 31 }],
    ["a reserved alias", { ...version, aliases: ["latest"] }],
    ["a deleted version without its time", { ...version, state: "soft_deleted" }],
    ["an unknown retention", { ...version, retention_mode: "days", ttl_days: 4000 }],
    ["a purged version that is active", { ...version, purged_at: version.created_at }],
    ["a path that leads away", { ...entries, entries: [{ ...entry, path: "../a" }] }],
    ["a file without a hash", { ...entries, entries: [entry, { ...entry, sha256: undefined }] }],
    ["a reference to nothing", { ...entries, entries: [{ ...entry, kind: "reference" }] }],
    ["an edge without a source", { ...edges, edges: [{ ...edge, source: "" }] }],
  ];
  test.each(wrong)("with %s does not", (_, line) => {
    expect(() => checkArtifacts(line)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  });

  test("of another kind passes", () => {
    expect(() => checkArtifacts({ line: "object.rows", id: 1, rows: [] })).not.toThrow();
  });
});
