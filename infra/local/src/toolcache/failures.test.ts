import { expect, test } from "@jest/globals";
import { explainFailure } from "./failures.mjs";

test.each([
  [
    "npm on a full disk",
    "npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device, write",
    /disk is full/,
  ],
  [
    "pnpm on a full disk, its message broken in the middle of the phrase",
    "  ╰─▶ Failed to write cafs: Failed to write to file: No\n      space left on device (os error 28)",
    /disk is full/,
  ],
  ["no name server", "npm error code EAI_AGAIN\nnpm error request to http://r/ failed", /name was not found/],
  ["a registry that refuses connections", "npm error code ECONNREFUSED", /could not be reached/],
  [
    "a version that does not exist",
    "npm error code ETARGET\nnpm error notarget No matching version",
    /does not have it/,
  ],
  ["a changed package", "npm error code EINTEGRITY", /checksum/],
  ["another processor", "npm error code EBADPLATFORM", /operating system, processor/],
  ["a read-only folder", "Error: EROFS: read-only file system, mkdir '/c'", /read-only/],
  ["a folder of another user", "Error: EACCES: permission denied, mkdir '/c'", /permission is denied/],
  ["a network fault that also names a permission", "EACCES /x\nnpm error code ENOTFOUND", /name was not found/],
])("says in words: %s", (_name, output, expected) => {
  expect(explainFailure(output)).toMatch(expected);
});

test("does not guess", () => {
  expect(explainFailure("Segmentation fault")).toBeUndefined();
});
