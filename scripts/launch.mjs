// The one entry of all npm scripts. Plain JavaScript for Node 18 and newer without dependencies: it fetches the Node that
// runs the TypeScript sources, installs what they need, and runs the program.
import { constants, homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheDirectory, isStartError, startError } from "../infra/local/src/toolcache/index.mjs";
import { installDependencies } from "./launch/install-dependencies.mjs";
import { obtainNode } from "./launch/tools.mjs";
import { runProgram, takeSignals } from "./launch/run-program.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @type {Record<string, string>} */
const programs = {
  start: "services/all/src/start.ts",
  dev: "scripts/dev.ts",
  test: "scripts/test.ts",
  split: "services/all/src/split.ts",
  bench: "test/bench/main.ts",
  seed: "test/bench/seed/main.ts",
  pictures: "test/pictures/main.ts",
  tidemark: "cli/src/main.ts",
};

// On standard error: what the programs print on standard output may be read by a program.
/** @param {string} line */
const log = (line) => process.stderr.write(`tidemark: ${line}\n`);

/**
 * @param {string[]} argv
 * @returns {{ file: string, args: string[] }}
 */
const programOf = ([command, ...args]) => {
  if (command === "run" && args[0] !== undefined) return { file: resolve(args[0]), args: args.slice(1) };
  const file = command === undefined || !Object.hasOwn(programs, command) ? undefined : programs[command];
  if (file !== undefined) return { file: join(root, file), args };
  throw startError(`usage: node scripts/launch.mjs ${Object.keys(programs).join("|")}|run FILE [arguments]`);
};

const signals = takeSignals();
try {
  if (Number.parseInt(process.versions.node, 10) < 18) {
    throw startError(`Node 18 or newer is needed to start; this is ${process.version}`);
  }
  const { file, args } = programOf(process.argv.slice(2));
  const cacheDir = cacheDirectory({
    env: process.env,
    platform: process.platform,
    home: homedir(),
    cwd: process.cwd(),
  });
  const surroundings = { cacheDir, log, signal: signals.abort };
  const node = await obtainNode(surroundings);
  await installDependencies(root, node, surroundings);
  signals.abort.throwIfAborted();
  process.exitCode = await runProgram(node, file, args, { cacheDir, onStarted: signals.deliverTo });
} catch (error) {
  const received = signals.received();
  if (signals.abort.aborted && received !== undefined) process.exitCode = 128 + constants.signals[received];
  else {
    log(isStartError(error) ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = 1;
  }
}
