import { expect, test } from "@jest/globals";
import type { Entry } from "../../../artifacts/artifact-types.ts";
import { fileRows } from "./file-tree.ts";

const entries = ["a/b/x.bin", "a/y.bin", "c.txt", "a b/z"].map(
  (path, i) => ({ id: String(i), path, kind: "file", size_bytes: 10 ** i }) as Entry,
);
const rows = (closed: readonly string[] = [], search = "") =>
  fileRows(entries, { closed: new Set(closed), search }).map((row) =>
    row.kind === "folder"
      ? `${" ".repeat(row.depth)}${row.name}/ ${row.files} ${row.bytes}`
      : `${" ".repeat(row.depth)}${row.name}`,
  );

test("files are in their folders, which say how much they have", () => {
  expect(rows()).toEqual(["a/ 2 11", " b/ 1 1", "  x.bin", " y.bin", "a b/ 1 1000", " z", "c.txt"]);
});

test("a closed folder hides what is in it", () => {
  expect(rows(["a/b"])).toEqual(["a/ 2 11", " b/ 1 1", " y.bin", "a b/ 1 1000", " z", "c.txt"]);
  expect(rows(["a", "a b"])).toEqual(["a/ 2 11", "a b/ 1 1000", "c.txt"]);
});

test("a search leaves the paths that have it", () => {
  expect(rows([], " B/")).toEqual(["a/ 1 1", " b/ 1 1", "  x.bin", "a b/ 1 1000", " z"]);
  expect(rows([], "nothing")).toEqual([]);
});

test("a reference has no size, and a folder of references none", () => {
  const reference = { id: "1", path: "r/s", kind: "reference", size_bytes: null } as Entry;
  expect(fileRows([reference], { closed: new Set(), search: "" })[0]).toMatchObject({ files: 1, bytes: 0 });
});
