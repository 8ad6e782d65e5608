import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { findExecutable, findNpm, runCaptured } from "./programs.mjs";

const running = "/usr/lib/node_modules/npm/bin/npm-cli.js";
const beside = "/opt/node/lib/node_modules/npm/bin/npm-cli.js";
const execPath = "/opt/node/bin/node";
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "find-npm-"));
  await mkdir(join(folder, "bin/folder"), { recursive: true });
  await writeFile(join(folder, "bin/npm"), "#!/bin/sh\n");
  await chmod(join(folder, "bin/npm"), 0o755);
  await writeFile(join(folder, "bin/plain"), "");
});

afterAll(() => rm(folder, { recursive: true }));

test.each([
  ["the npm that runs this", { npm_execpath: running }, [running, beside], { command: execPath, args: [running] }],
  [
    "not the pnpm that runs this",
    { npm_execpath: "/x/pnpm.cjs" },
    ["/x/pnpm.cjs", beside],
    { command: execPath, args: [beside] },
  ],
  ["not one that has gone", { npm_execpath: running }, [beside], { command: execPath, args: [beside] }],
  ["the one next to Node", {}, [beside], { command: execPath, args: [beside] }],
  ["none", { PATH: "/nowhere" }, [], undefined],
])("finds %s", (_name, env, files, expected) => {
  expect(findNpm({ env, execPath, exists: (path) => (files as string[]).includes(path) })).toEqual(expected);
});

test("finds the one on PATH last", () => {
  const env = { PATH: `/nowhere:${join(folder, "bin")}` };
  expect(findNpm({ env, execPath, exists: () => false })).toEqual({ command: join(folder, "bin/npm"), args: [] });
});

test.each([
  ["a file without the right to execute it", "plain"],
  ["a folder", "folder"],
  ["a missing file", "missing"],
])("%s is not an executable", (_name, name) => {
  expect(findExecutable(name, join(folder, "bin"))).toBeUndefined();
});

test("a relative entry of PATH is not searched", () => {
  expect(findExecutable("npm", "bin")).toBeUndefined();
});

test("keeps both outputs, the code, and gives the input", async () => {
  const result = await runCaptured("/bin/sh", ["-c", "read line; echo out $line; echo err >&2; exit 3"], {
    input: "in\n",
  });
  expect(result).toMatchObject({ code: 3, stdout: "out in\n" });
  expect(result.output).toContain("err\n");
});

test("a program that is not there is a code and a reason, not an exception", async () => {
  const result = await runCaptured("/nowhere/program", []);
  expect(result.code).toBe(-1);
  expect(result.output).toContain("ENOENT");
});

test("a program that is aborted is ended, and the reason is returned", async () => {
  const controller = new AbortController();
  const running = runCaptured("/bin/sh", ["-c", "exec sleep 60"], { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});
