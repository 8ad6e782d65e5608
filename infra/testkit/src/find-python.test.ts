import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { findPython } from "./python.ts";

let bin = "";
beforeEach(async () => {
  bin = await mkdtemp(join(tmpdir(), "tidemark-python-"));
});
afterEach(() => rm(bin, { recursive: true, force: true }));

/** Puts an executable on the PATH of the test that does this in the place of Python. */
async function place(name: string, script: string): Promise<string> {
  const path = join(bin, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}
const says = (major: number, minor: number): string => `echo '[[${major}, ${minor}, 1], "/usr", ".so"]'`;
const look = (named?: string) => findPython({ PATH: bin, ...(named === undefined ? {} : { TIDEMARK_PYTHON: named }) });

test("the newest of the known names wins", async () => {
  await place("python3", says(3, 14));
  await place("python3.11", says(3, 11));
  const newest = await place("python3.12", says(3, 12));
  expect(await look()).toEqual({ path: newest, identity: '[[3, 12, 1], "/usr", ".so"]' });
});

test("a name that does not run, such as the shim of a version manager, is passed over", async () => {
  await place("python3.13", 'echo "pyenv: python3.13: command not found" >&2; exit 127');
  const plain = await place("python3", says(3, 11));
  expect(await look()).toMatchObject({ path: plain });
});

test("when no Python is suitable, everything that was tried is reported", async () => {
  await place("python3.13", "echo \"ModuleNotFoundError: No module named 'ensurepip'\" >&2; exit 1");
  await place("python3", says(3, 9));
  expect(await look()).toEqual({
    missing:
      "no usable Python 3.11 or newer (python3.13: it cannot be used (ModuleNotFoundError: No module named 'ensurepip'); " +
      "python3.12: not on PATH; python3.11: not on PATH; python3: it is Python 3.9)",
  });
});

test("TIDEMARK_PYTHON is tried first", async () => {
  await place("python3.13", says(3, 13));
  const own = await place("my-python", says(3, 11));
  expect(await look(own)).toMatchObject({ path: own });
});

test.each([
  ["an old Python", says(3, 10), "it is Python 3.10"],
  ["a Python 2", says(2, 7), "it is Python 2.7"],
  ["a program that fails", "exit 3", "it cannot be used (exit code 3)"],
])("TIDEMARK_PYTHON that names %s is not passed over", async (_what, script, fault) => {
  await place("python3.13", says(3, 13));
  const own = await place("my-python", script);
  expect(await look(own)).toEqual({ missing: `TIDEMARK_PYTHON names ${own}, but ${fault}` });
});
