import { expect, test } from "@jest/globals";
import { digestManifest, type ManifestEntry } from "./completion.rules.ts";

const entry = (more: Partial<ManifestEntry> = {}): ManifestEntry => ({
  path: "a",
  kind: "file",
  sizeBytes: 1,
  sha256: "0".repeat(64),
  mimeType: "text/plain",
  referenceUri: undefined,
  ...more,
});
const digest = (...entries: ManifestEntry[]): string => digestManifest(entries).toString("hex");

test("the order of entries and the media type do not count", () => {
  const [a, b] = [entry(), entry({ path: "b" })];
  expect(digest(a, b)).toBe(digest(b, { ...a, mimeType: "image/png" }));
  expect(digest(a)).toMatch(/^[0-9a-f]{64}$/);
});

test.each<[string, Partial<ManifestEntry>]>([
  ["path", { path: "b" }],
  ["kind", { kind: "directory" }],
  ["size", { sizeBytes: 2 }],
  ["hash", { sha256: "1".repeat(64) }],
  ["address", { referenceUri: "" }],
  ["missing size", { sizeBytes: undefined }],
])("the %s counts", (_, more) => expect(digest(entry(more))).not.toBe(digest(entry())));

test("paths are ordered by their bytes, so that every language has the same order", () => {
  const [high, low] = [entry({ path: "\u{1f600}" }), entry({ path: "\uffee" })];
  expect(digest(high, low)).toBe(digest(low, high));
});

test("parts of one entry cannot be taken for those of another", () => {
  expect(digest(entry({ path: "ab", kind: "c" }))).not.toBe(digest(entry({ path: "a", kind: "bc" })));
});
