import { describe, expect, test } from "@jest/globals";
import { ENTRY_BYTES_MAX, ENTRY_PATH_BYTES_MAX, MANIFEST_ENTRIES_MAX } from "@tidemark/limits";
import type { Json } from "../../http/json.ts";
import { manifestEntries } from "./manifest.ts";

const sha256 = "AB".repeat(32);
const file = { path: "weights.bin", size_bytes: 5, sha256 };
const read = (...entries: Json[]) => manifestEntries.check(entries, "entries");
const refusal = (...entries: Json[]) => {
  try {
    read(...entries);
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("the entries of a manifest", () => {
  test("a file: the hash in lower case, the type by its name", () => {
    expect(read({ ...file, path: " model.json " })).toEqual([
      {
        path: "model.json",
        kind: "file",
        sizeBytes: 5n,
        sha256: "ab".repeat(32),
        mimeType: "application/json",
        referenceUri: undefined,
      },
    ]);
  });

  test("a reference needs neither size nor hash", () => {
    expect(read({ path: "data", reference_uri: "s3://bucket/key" })).toMatchObject([
      { kind: "reference", sizeBytes: undefined, sha256: undefined, referenceUri: "s3://bucket/key" },
    ]);
  });

  test("an entry with an address keeps its kind", () => {
    expect(read({ ...file, kind: "directory", reference_uri: "u" })).toMatchObject([{ kind: "directory" }]);
  });

  test.each([
    "a",
    "a/b/c",
    "..a",
    "a..",
    "...",
    "%2e%2e/x",
    "C:x",
    "CON",
    "~",
    "\u202Egnp.exe",
    "é/ü",
    "a b",
    "x".repeat(ENTRY_PATH_BYTES_MAX),
  ])("keeps the path %j", (path) => expect(read({ ...file, path })).toMatchObject([{ path }]));

  test.each([
    "",
    " ",
    "/",
    "/etc/passwd",
    "a/",
    "a//b",
    ".",
    "..",
    "./a",
    "a/.",
    "a/..",
    "a/../b",
    "../../a",
    " .. ",
    "a\\b",
    "\\\\server\\share",
    "a\u0000b",
    "a\rb",
    "a\nb",
    "a\tb",
    "a\u007fb",
    "a\u009fb",
    "a\ud800",
    "é".repeat(ENTRY_PATH_BYTES_MAX / 2 + 1),
  ])("refuses the path %j", (path) => {
    expect(refusal({ ...file, path })).toMatchObject({ reason: "bad_request", field: "entries" });
  });

  test.each<[string, Json]>([
    ["no object", "weights.bin"],
    ["no path", { size_bytes: 5, sha256 }],
    ["no size", { path: "a", sha256 }],
    ["no hash", { path: "a", size_bytes: 5 }],
    ["a short hash", { ...file, sha256: "ab" }],
    ["a hash of other letters", { ...file, sha256: "zz".repeat(32) }],
    ["a size below zero", { ...file, size_bytes: -1 }],
    ["half a byte", { ...file, size_bytes: 0.5 }],
    ["more bytes than a file may have", { ...file, size_bytes: ENTRY_BYTES_MAX + 1 }],
    ["an unknown kind", { ...file, kind: "link" }],
    ["a reference without an address", { ...file, kind: "reference" }],
    ["an address that is too long", { path: "a", reference_uri: "u".repeat(2049) }],
  ])("refuses %s", (_what, entry) => {
    expect(refusal(entry)).toMatchObject({ reason: "bad_request", field: "entries" });
  });

  test("each path occurs once, in any spelling", () => {
    expect(refusal(file, { ...file, path: " weights.bin" })).toMatchObject({
      field: "entries",
      message: expect.stringContaining("entries[1]: path is given twice"),
    });
  });

  test("holds 1 to 1,000 entries", () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => ({ ...file, path: `f${i}` }));
    expect(read(...many(MANIFEST_ENTRIES_MAX))).toHaveLength(MANIFEST_ENTRIES_MAX);
    expect(refusal(...many(MANIFEST_ENTRIES_MAX + 1))).toMatchObject({ reason: "bad_request", field: "entries" });
    expect(refusal()).toMatchObject({ reason: "bad_request", field: "entries" });
  });
});
