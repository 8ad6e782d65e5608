import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { toolsFor } from "./tools.mjs";

/** A work tree with the real launcher, a program that prints what it sees, and an npm and a pnpm that need no network. */
export type SmallTree = {
  root: string;
  cacheDir: string;
  /** Starts `node scripts/launch.mjs` with these arguments; `firstLine` is what the program says first. */
  launch(args: readonly string[]): Launched;
  /** The packages fetched and installed so far, one line each. */
  calls(): Promise<string[]>;
  remove(): Promise<void>;
};

export type Launched = {
  child: ChildProcess;
  firstLine: Promise<string>;
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
};

// The program prints its name and waits for a signal if asked to.
const program = `
const seen = {
  args: process.argv.slice(2), pid: process.pid, path: process.env.PATH?.split(":")[0],
  cache: process.env.NODE_COMPILE_CACHE, launcher: process.env.TIDEMARK_LAUNCHER_PID ?? "none",
};
if (process.argv[2] === "wait") {
  const beat: NodeJS.Timeout = setInterval(() => {}, 1000);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => { process.stdout.write(signal + "\\n"); clearInterval(beat); process.exitCode = 7; });
  }
} else process.exitCode = Number(process.argv[2] ?? 0);
process.stdout.write(JSON.stringify(seen) + "\\n");
`;

const pnpm = `#!/bin/sh
echo "pnpm $1" >> "$CALLS"
if [ "$1" = install ]; then if [ -n "$PNPM_FAILS" ]; then echo "$PNPM_FAILS"; exit 1; fi; mkdir -p node_modules/left; fi
`;

const npm = `
const fs = require("node:fs");
const { name, version } = JSON.parse(process.env.PNPM_PACKAGE);
fs.appendFileSync(process.env.CALLS, "npm " + name + "@" + version + "\\n");
const folder = "node_modules/" + name;
fs.mkdirSync(folder, { recursive: true });
fs.writeFileSync(folder + "/pnpm", process.env.PNPM_SCRIPT, { mode: 0o755 });
`;

export async function makeSmallTree(env: NodeJS.ProcessEnv = {}): Promise<SmallTree> {
  const folder = await mkdtemp(join(tmpdir(), "launch-"));
  const root = join(folder, "tree");
  const cacheDir = join(folder, "cache");
  const here = join(dirname(fileURLToPath(import.meta.url)), "../..");
  await mkdir(join(root, "infra/local/src/toolcache"), { recursive: true });
  await cp(join(here, "scripts/launch.mjs"), join(root, "scripts/launch.mjs"), { recursive: true });
  await cp(join(here, "scripts/launch"), join(root, "scripts/launch"), { recursive: true });
  await cp(join(here, "infra/local/src/toolcache"), join(root, "infra/local/src/toolcache"), { recursive: true });
  await writeFile(join(root, "package.json"), '{"type":"module"}');
  await writeFile(join(root, "pnpm-workspace.yaml"), "packages:\n  - infra/*\n");
  await writeFile(join(root, "pnpm-lock.yaml"), "lockfileVersion: '9.0'\n");
  await mkdir(join(root, "services/all/src"), { recursive: true });
  await writeFile(join(root, "services/all/src/start.ts"), program);
  await writeFile(join(folder, "npm-cli.js"), npm);
  const calls = join(folder, "calls");
  await writeFile(calls, "");
  const environment = {
    PATH: process.env["PATH"],
    npm_execpath: join(folder, "npm-cli.js"),
    TIDEMARK_CACHE_DIR: cacheDir,
    CALLS: calls,
    PNPM_PACKAGE: JSON.stringify(toolsFor(process.platform, process.arch)?.pnpm),
    PNPM_SCRIPT: pnpm,
    ...env,
  };
  return {
    root,
    cacheDir,
    launch: (args) => start(root, args, environment),
    calls: async () => (await readFile(calls, "utf8")).split("\n").filter(Boolean),
    remove: () => rm(folder, { recursive: true }),
  };
}

function start(root: string, args: readonly string[], env: NodeJS.ProcessEnv): Launched {
  const child = spawn(process.execPath, [join(root, "scripts/launch.mjs"), ...args], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const firstLine = new Promise<string>((resolve) => {
    child.stdout.on("data", (bytes: Buffer) => {
      stdout += bytes.toString();
      if (stdout.includes("\n")) resolve(stdout.split("\n")[0] ?? "");
    });
    child.once("close", () => resolve(stdout));
  });
  child.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes.toString();
  });
  const ended = once(child, "close").then(() => ({ code: child.exitCode, stdout, stderr }));
  return { child, firstLine, ended };
}
