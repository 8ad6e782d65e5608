import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type SmallTree, makeSmallTree } from "./small-tree.fixture.ts";

let tree: SmallTree;

const remake = async (env: NodeJS.ProcessEnv): Promise<void> => {
  await tree.remove();
  tree = await makeSmallTree(env);
};

beforeEach(async () => {
  tree = await makeSmallTree();
});

afterEach(() => tree.remove());

describe("with an empty cache", () => {
  test("it fetches pnpm, installs the dependencies, and runs the program with its arguments and exit code", async () => {
    const { code, stdout, stderr } = await tree.launch(["start", "3", "--flag", "a b"]).ended;
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      args: ["3", "--flag", "a b"],
      path: dirname(process.execPath),
      cache: join(tree.cacheDir, "compile-cache"),
      launcher: "none",
    });
    expect(stderr).toContain("tidemark: Installing the dependencies");
    expect(await tree.calls()).toEqual([expect.stringMatching(/^npm @pnpm\/exe\./), "pnpm --version", "pnpm install"]);
  });

  test("three that start simultaneously fetch once and install once", async () => {
    const runs = await Promise.all([0, 0, 0].map((code) => tree.launch(["start", String(code)]).ended));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(await tree.calls()).toHaveLength(3);
  });

  test("a failing installation is one line and leaves nothing that would pass for done", async () => {
    await remake({ PNPM_FAILS: "ERR_PNPM_OUTDATED_LOCKFILE  Cannot install" });
    for (const _attempt of [1, 2]) {
      const { code, stderr } = await tree.launch(["start"]).ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(/^tidemark: the dependencies could not be installed: pnpm-lock\.yaml does not fit .*$/m);
      expect(stderr).not.toContain("    at ");
    }
  });
});

describe("with everything in place", () => {
  beforeEach(async () => {
    await tree.launch(["start"]).ended;
    await writeFile(join(tree.root, "extra.ts"), "process.exitCode = process.argv.length as number;");
  });

  test("it says nothing, fetches nothing and installs nothing", async () => {
    const before = await tree.calls();
    expect(await tree.launch(["start"]).ended).toMatchObject({ code: 0, stderr: "" });
    expect(await tree.calls()).toEqual(before);
  });

  test("a changed lock file installs again", async () => {
    const before = await tree.calls();
    await writeFile(join(tree.root, "pnpm-lock.yaml"), "lockfileVersion: '9.1'\n");
    await tree.launch(["start"]).ended;
    expect(await tree.calls()).toEqual([...before, "pnpm install"]);
  });

  test("a removed node_modules is installed again", async () => {
    const before = await tree.calls();
    await rm(join(tree.root, "node_modules"), { recursive: true });
    await tree.launch(["start"]).ended;
    expect(await tree.calls()).toEqual([...before, "pnpm install"]);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s reaches the program, whose exit code is returned",
    async (signal) => {
      const { child, firstLine, ended } = tree.launch(["start", "wait"]);
      await firstLine;
      child.kill(signal);
      const { code, stdout } = await ended;
      expect(code).toBe(7);
      expect(stdout).toContain(signal);
    },
  );

  test("a program that a signal ends gives 128 and the number of the signal", async () => {
    const { firstLine, ended } = tree.launch(["start", "wait"]);
    process.kill((JSON.parse(await firstLine) as { pid: number }).pid, "SIGKILL");
    expect((await ended).code).toBe(137);
  });

  test("a launcher that is killed takes the program with it", async () => {
    const { child, firstLine, ended } = tree.launch(["start", "wait"]);
    await firstLine;
    child.kill("SIGKILL");
    // The program holds the output open until it ends.
    expect((await ended).stdout).toContain("SIGTERM");
  });

  test("any file can be run", async () => {
    expect((await tree.launch(["run", "extra.ts", "1", "2"]).ended).code).toBe(4);
  });

  test.each([[[]], [["toString"]], [["run"]]])("%j is answered with the usage", async (args) => {
    const { code, stderr } = await tree.launch(args).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tidemark: usage: .*start\|dev\|test\|split\|bench\|seed\|pictures\|tidemark\|run FILE/);
  });
});
