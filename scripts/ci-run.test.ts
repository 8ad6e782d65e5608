import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";

const root = dirname(import.meta.dirname);
let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "tidemark-ci-")));
  await mkdir(join(folder, ".ci"));
  await copyFile(join(root, ".ci/run"), join(folder, ".ci/run"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs .ci/run of a repository whose `npm` is the given shell script. */
async function run(npm: string): Promise<{ exitCode: number; lines: readonly string[] }> {
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "bin/npm"), `#!/bin/sh\n${npm}\n`);
  await chmod(join(folder, "bin/npm"), 0o755);
  const env = { ...process.env, PATH: [join(folder, "bin"), process.env["PATH"]].join(delimiter) };
  return new Promise((resolve) => {
    const child = execFile(join(folder, ".ci/run"), { cwd: tmpdir(), env }, (_error, stdout) =>
      resolve({ exitCode: child.exitCode ?? -1, lines: stdout.trimEnd().split("\n") }),
    );
  });
}

test("it calls npm test in the repository, from wherever it is started", async () => {
  const { lines } = await run(`echo "$@"; pwd; echo "1 passed, 0 failed"`);
  expect(lines).toEqual(["test", folder, "1 passed, 0 failed"]);
});

test.each([
  ["all passed", `echo "3 passed, 0 failed"`, 0, "3 passed, 0 failed"],
  ["some failed", `echo "3 passed, 2 failed, 1 skipped"; exit 1`, 1, "3 passed, 2 failed, 1 skipped"],
  ["npm has a word to add", `echo "3 passed, 2 failed"; echo "npm error" >&2; exit 7`, 7, "3 passed, 2 failed"],
  ["a test prints its own count", `echo "9 passed, 9 failed"; echo "3 passed, 0 failed"`, 0, "3 passed, 0 failed"],
  ["it breaks before it can count", `echo "no Node"; exit 3`, 3, "0 passed, 1 failed"],
  ["it ends well without a count", `echo "well"`, 1, "0 passed, 1 failed"],
])("when %s, the count stands alone on the last line", async (_case, npm, exitCode, line) => {
  const result = await run(npm);
  expect(result.exitCode).toBe(exitCode);
  expect(result.lines.at(-1)).toBe(line);
});

test("the count is not said twice", async () => {
  expect((await run(`echo "3 passed, 0 failed"`)).lines).toEqual(["3 passed, 0 failed"]);
});
