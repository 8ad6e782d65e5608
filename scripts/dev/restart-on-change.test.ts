import { spawn } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { restartOnChange } from "./restart-on-change.ts";

let folder = "";
let lines: string[] = [];
let ending: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "dev-"));
  lines = [];
  ending = new AbortController();
  await mkdir(join(folder, "src/deep"), { recursive: true });
  await writeFile(join(folder, "log"), "");
});
afterEach(async () => {
  ending.abort();
  await running;
  await rm(folder, { recursive: true });
});

const log = async () => (await readFile(join(folder, "log"), "utf8")).split("\n").filter(Boolean);

/** Runs a shell script that notes its life in a file, and restarts it when a `.ts` file changes. */
function run(script: string): void {
  running = restartOnChange({
    folders: [join(folder, "src")],
    matters: (file) => file.endsWith(".ts"),
    start: () => spawn("/bin/sh", ["-c", script], { cwd: folder, stdio: "ignore" }),
    print: (line) => lines.push(line),
    signal: ending.signal,
  });
}

async function until(done: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 10));
}

const server = `trap 'sleep 0.2; echo stopped >> log; exit 0' TERM; echo started >> log; while :; do sleep 0.05; done`;

test("a change restarts it after it has ended, and the end ends it", async () => {
  run(server);
  await until(async () => (await log()).length === 1);
  await appendFile(join(folder, "src/deep/a.ts"), "x");
  await until(async () => (await log()).length === 3);
  ending.abort();
  await running;
  expect(await log()).toEqual(["started", "stopped", "started", "stopped"]);
  expect(lines).toEqual([expect.stringMatching(/src\/deep\/a\.ts has changed; starting again$/)]);
});

test("other files change nothing", async () => {
  run(server);
  await until(async () => (await log()).length === 1);
  await writeFile(join(folder, "src/notes.md"), "x");
  await writeFile(join(folder, "src/b.ts"), "x");
  await until(async () => (await log()).length === 3);
  expect(lines).toEqual([expect.stringContaining("b.ts")]);
});

test("a program that fails is started again by the next change", async () => {
  run(`echo failed >> log; exit 3`);
  await until(() => lines.length === 1);
  await writeFile(join(folder, "src/c.ts"), "x");
  await until(async () => (await log()).length === 2);
  expect(lines[0]).toBe("it has ended (3); waiting for a change");
});
