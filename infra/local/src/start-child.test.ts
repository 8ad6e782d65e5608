import { mkdtemp, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { join } from "node:path";
import { processesIn } from "./claim-folder.ts";
import { startChild } from "./start-child.ts";
import { eventually, hasEnded, holdInProcess, killHard } from "./held-server.fixture.ts";

let cwd = "";

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "child-"));
});

afterAll(() => rm(cwd, { recursive: true }));

const shell = (script: string): { command: string; args: string[]; cwd: string; env: NodeJS.ProcessEnv } => ({
  command: "/bin/sh",
  args: ["-c", script],
  cwd,
  env: { PATH: "/usr/bin:/bin" },
});

test("its lines of both outputs arrive, and its code", async () => {
  const lines: string[] = [];
  const child = await startChild({ ...shell("echo one; echo two >&2; exit 4"), onLine: (line) => lines.push(line) });
  expect(await child.exited).toEqual({ code: 4, signal: null });
  expect([...lines].sort()).toEqual(["one", "two"]);
  expect([...child.lastLines()].sort()).toEqual(["one", "two"]);
});

test("of many lines the last hundred are kept", async () => {
  const child = await startChild(shell("i=0; while [ $i -lt 150 ]; do i=$((i+1)); echo $i; done"));
  await child.exited;
  expect([child.lastLines()[0], child.lastLines().length]).toEqual(["51", 100]);
});

test("it knows nothing of this process's environment but what it is given", async () => {
  const child = await startChild({ ...shell("echo [$SEEN] [$HOME]"), env: { SEEN: "yes" } });
  await child.exited;
  expect(child.lastLines()).toEqual(["[yes] []"]);
});

test("the process that was named is the server itself, in its folder and without the pipe to this process", async () => {
  const child = await startChild({ ...shell(""), command: "/bin/sleep", args: ["600"] });
  const path = await eventually(async () => {
    const exe = await readlink(`/proc/${child.pid}/exe`);
    return exe.endsWith("sleep") ? exe : undefined;
  });
  expect(path).toBeDefined();
  await expect(readlink(`/proc/${child.pid}/fd/3`)).rejects.toThrow("ENOENT");
  const program = path?.split("/").at(-1) ?? "";
  expect(await processesIn(cwd, program)).toEqual([{ pid: child.pid, parent: process.pid }]);
  expect(await processesIn(cwd, "postgres")).toEqual([]);
  await child.stop();
});

test("a server that heeds the first signal is stopped by it, however often it is asked", async () => {
  const child = await startChild({ ...shell(""), command: "/bin/sleep", args: ["600"] });
  const exits = await Promise.all([child.stop(), child.stop()]);
  expect(exits).toEqual([
    { code: null, signal: "SIGTERM" },
    { code: null, signal: "SIGTERM" },
  ]);
  expect(await child.stop()).toEqual({ code: null, signal: "SIGTERM" });
});

test("a server that does not heed a signal gets the next one", async () => {
  const child = await startChild({
    ...shell("trap '' TERM; echo ready; while :; do sleep 0.05; done"),
    stopSignals: [
      { signal: "SIGTERM", waitMs: 100 },
      { signal: "SIGKILL", waitMs: 60_000 },
    ],
  });
  await eventually(() => (child.lastLines().includes("ready") ? true : undefined));
  expect(await child.stop()).toEqual({ code: null, signal: "SIGKILL" });
});

test("a program that is not there is an end with the shell's code and reason", async () => {
  const child = await startChild({ ...shell(""), command: "/nowhere/server", args: [] });
  expect(await child.exited).toEqual({ code: 127, signal: null });
  expect(child.lastLines().join()).toContain("/nowhere/server");
});

test("a folder that is not there is an exception", async () => {
  await expect(startChild({ ...shell(""), cwd: join(cwd, "missing") })).rejects.toMatchObject({ code: "ENOENT" });
});

test("when its parent is killed, it is ended too", async () => {
  const { holder, server } = await holdInProcess("sleep", cwd);
  await killHard(holder);
  expect(await hasEnded(server.pid)).toBe(true);
});
