import { spawn } from "node:child_process";
import { basename, dirname, join, sep } from "node:path";
import { restartOnChange } from "./dev/restart-on-change.ts";

// npm run dev                     as npm start, and again whenever a source file changes; the data folder stays
// npm run dev -- --inspect        with Node's inspector (--inspect-brk, --inspect=PORT as well)
// npm run dev -- <arguments>      the arguments are those of npm start
const root = dirname(import.meta.dirname);
const args = process.argv.slice(2);
const forNode = args.filter((argument) => argument.startsWith("--inspect"));
const forStart = args.filter((argument) => !argument.startsWith("--inspect"));
const sources = ["gateway", "infra", "packages", "proto/src", "services"];

// In its own process group, so that Ctrl-C reaches it once, through this process; its end of the pipe shows it when this
// process has been killed.
const start = () =>
  spawn(
    process.execPath,
    [
      "--import",
      join(root, "scripts/launch/exit-with-parent.mjs"),
      ...forNode,
      join(root, "services/all/src/start.ts"),
      ...forStart,
    ],
    {
      stdio: ["ignore", "inherit", "inherit", "pipe"],
      detached: true,
      env: { ...process.env, TIDEMARK_LAUNCHER_PID: String(process.pid) },
    },
  );

const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ending.abort());
await restartOnChange({
  folders: sources.map((folder) => join(root, folder)),
  matters: (file) =>
    /\.(ts|js|mjs|sql)$/.test(file) &&
    !/\.(test|fixture|contract)\.ts$/.test(basename(file)) &&
    !file.split(sep).includes("node_modules"),
  start,
  print: (line) => console.log(`dev: ${line}`),
  signal: ending.signal,
});
