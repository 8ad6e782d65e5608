import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { CompletedFileSchema } from "@tidemark/proto/artifacts/v1/uploads";
import { readCompletion, digestManifest, type ManifestEntry } from "./completion.rules.ts";

const inlineFile = { id: randomUUID(), path: "small", uploadKind: "inline", partCount: 0, verified: false } as const;
const putFile = { id: randomUUID(), path: "middle", uploadKind: "put", partCount: 1, verified: false } as const;
const largeFile = { id: randomUUID(), path: "large", uploadKind: "multipart", partCount: 2, verified: false } as const;
const files = [inlineFile, putFile, largeFile];

const object = { objectId: randomUUID(), sizeBytes: 2n, sha256: new Uint8Array(32) };
const inline = create(CompletedFileSchema, { entryId: inlineFile.id, inline: object });
const put = create(CompletedFileSchema, { entryId: putFile.id });
const parts = (...numbers: number[]) => numbers.map((partNumber) => ({ partNumber, etag: `"e${partNumber}"` }));
const large = (...numbers: number[]) =>
  create(CompletedFileSchema, { entryId: largeFile.id, parts: parts(...numbers) });

test("sent parts are kept by file, parts in their order and ETags without quotes", () => {
  const sent = readCompletion([large(2, 1), inline, put], files);
  expect([...sent.keys()].toSorted()).toEqual(files.map(({ id }) => id).toSorted());
  expect(sent.get(largeFile.id)!.parts).toEqual([
    { partNumber: 1, etag: "e1" },
    { partNumber: 2, etag: "e2" },
  ]);
  expect(sent.get(inlineFile.id)!.inline).toEqual({ objectId: object.objectId, sizeBytes: 2, sha256: "00".repeat(32) });
  expect(sent.get(putFile.id)!.parts).toEqual([]);
});

test("parts of a file of one part are not looked at", () => {
  const named = create(CompletedFileSchema, { entryId: putFile.id, parts: parts(7) });
  expect(readCompletion([large(1, 2), inline, named], files).get(putFile.id)!.parts).toEqual([]);
});

describe("a bad completion", () => {
  test.each([
    ["a missing file", [inline, put], "is missing"],
    [
      "an unknown file",
      [inline, put, large(1, 2), create(CompletedFileSchema, { entryId: randomUUID() })],
      "not a file",
    ],
    ["a file twice", [inline, put, large(1, 2), put], "is there twice"],
    [
      "a small file without bytes",
      [create(CompletedFileSchema, { entryId: inlineFile.id }), put, large(1, 2)],
      "needs",
    ],
    [
      "bytes of a file that has an address",
      [inline, create(CompletedFileSchema, { entryId: putFile.id, inline: object }), large(1, 2)],
      "does not take",
    ],
    ["too few parts", [inline, put, large(1)], "from 1 to 2"],
    ["too many parts", [inline, put, large(1, 2, 3)], "from 1 to 2"],
    ["a part twice", [inline, put, large(1, 1)], "from 1 to 2"],
    ["a part from 0", [inline, put, large(0, 1)], "from 1 to 2"],
  ])("%s is refused", (_, sent, text) => {
    expect(() => readCompletion(sent, files)).toThrow(
      expect.objectContaining({ reason: "bad_request", field: "files" }),
    );
    expect(() => readCompletion(sent, files)).toThrow(text);
  });
});

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
