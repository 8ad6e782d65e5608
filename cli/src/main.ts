import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { runCli } from "./run-cli.ts";

// The command `tidemark`. Results are on standard output, progress and faults on standard error.
const ends = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  // A second signal ends the process immediately.
  process.once(name, () => ends.abort());
}

const { env } = process;
// npm scripts run in the folder of their package; paths are relative to where the user started npm.
if (env["INIT_CWD"] !== undefined) process.chdir(env["INIT_CWD"]);
const states = env["XDG_STATE_HOME"] ?? env["LOCALAPPDATA"] ?? join(homedir(), ".local", "state");

process.exitCode = await runCli(process.argv.slice(2), {
  env,
  print: (line) => void process.stdout.write(`${line}\n`),
  report: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  signal: ends.signal,
  now: () => Date.now(),
  wait: (milliseconds) => pause(milliseconds, undefined, { signal: ends.signal }).catch(() => undefined),
  stateFolder: join(states, "tidemark"),
});
