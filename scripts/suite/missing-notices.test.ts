import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { readMissingNotices } from "./run-suite.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-missing-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("nothing is missing when the file was not written", async () => {
  expect(await readMissingNotices(join(folder, "missing"))).toEqual([]);
});

test("every notice is told once, in the order in which it first came", async () => {
  await writeFile(join(folder, "missing"), "Python: the SDK\n\nnats-server: split mode\r\nPython: the SDK\n");
  expect(await readMissingNotices(join(folder, "missing"))).toEqual(["Python: the SDK", "nats-server: split mode"]);
});

test("a file that cannot be read is an error, not a clean bill", async () => {
  await expect(readMissingNotices(folder)).rejects.toThrow(/EISDIR/);
});
