import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { cacheDirectory } from "@tidemark/local";
import { explainFailure, findExecutable, runCaptured, withLock } from "@tidemark/local/toolcache";
import { noteMissing } from "./require-servers.ts";

/** A browser that starts, as the path of its program, or part of a sentence that says why there is none. */
export type FoundChromium = { readonly path: string } | { readonly missing: string };

/** The inputs of the search for a browser. */
export type ChromiumSearch = {
  readonly env: NodeJS.ProcessEnv;
  /** Whether this process may install packages. */
  readonly isRoot: boolean;
  /** Folder for the lock, so that of several processes one installs. */
  readonly cacheDir: string;
  readonly log: (line: string) => void;
};

const names = ["chromium", "chromium-browser", "google-chrome"] as const;

const PACKAGE = "chromium";

let found: Promise<FoundChromium> | undefined;

/** Returns the path of a Chromium; undefined where there is none, which is then noted. With CI=true a note fails the run. */
export async function requireChromium(leftOut: string): Promise<string | undefined> {
  const answer = await obtainChromium();
  if ("path" in answer) return answer.path;
  await noteMissing(`Chromium: ${answer.missing}; not tested: ${leftOut}`);
  return undefined;
}

/** The same without the note. The first call of a process does the search; a full run does it before its tests. */
export function obtainChromium(): Promise<FoundChromium> {
  const { env, platform } = process;
  const cacheDir = cacheDirectory({ env, platform, home: homedir(), cwd: process.cwd() });
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  return (found ??= findChromium({ env, isRoot: process.getuid?.() === 0, cacheDir, log }));
}

/**
 * Looks for a browser: TIDEMARK_CHROMIUM, else the first usable one of chromium, chromium-browser and google-chrome on PATH; else root installs the package
 * chromium where there is apt-get. A variable that names something unusable is an answer, not skipped.
 */
export async function findChromium(search: ChromiumSearch): Promise<FoundChromium> {
  const { env, isRoot } = search;
  const named = env["TIDEMARK_CHROMIUM"];
  if (named) {
    const fault = await faultOf(named);
    return fault === undefined
      ? { path: named }
      : { missing: `TIDEMARK_CHROMIUM names ${named}, but it cannot be used (${fault})` };
  }
  const onPath = await lookOnPath(env);
  if ("path" in onPath) return onPath;
  const aptGet = findExecutable("apt-get", env["PATH"]);
  if (aptGet === undefined) return { missing: `${onPath.missing}, and there is no apt-get to install it with` };
  if (!isRoot) return { missing: `${onPath.missing}, and only root can install it: apt-get install ${PACKAGE}` };
  await mkdir(search.cacheDir, { recursive: true });
  const lock = join(search.cacheDir, "chromium.lock");
  const onWait = (): void => search.log("Waiting for another Tidemark that is installing Chromium");
  return withLock(lock, () => installAndLook(aptGet, search), { onWait });
}

async function lookOnPath(env: NodeJS.ProcessEnv): Promise<FoundChromium> {
  const tried: string[] = [];
  for (const name of names) {
    const path = findExecutable(name, env["PATH"]);
    const fault = path === undefined ? "not on PATH" : await faultOf(path);
    if (path !== undefined && fault === undefined) return { path };
    tried.push(`${name}: ${fault}`);
  }
  return { missing: `no usable Chromium (${tried.join("; ")})` };
}

/** Returns why a program does not start; undefined when it does. */
async function faultOf(path: string): Promise<string | undefined> {
  const { code, output } = await runCaptured(path, ["--version"]);
  return code === 0 ? undefined : output.trim().split("\n").at(-1) || `exit code ${code}`;
}

async function installAndLook(aptGet: string, { env, log }: ChromiumSearch): Promise<FoundChromium> {
  const before = await lookOnPath(env);
  if ("path" in before) return before;
  log("Installing Chromium with apt-get (once)");
  const run = (...args: string[]): ReturnType<typeof runCaptured> =>
    runCaptured(aptGet, ["-o", "DPkg::Lock::Timeout=300", ...args], {
      env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
      stillRunningMs: 15_000,
      onStillRunning: (seconds) => log(`Still installing Chromium (${seconds} s)`),
    });
  const install = ["install", "--yes", "--no-install-recommends", PACKAGE];
  let { code, output } = await run(...install);
  if (code !== 0) {
    // The lists of packages are missing in fresh images, or name a version that is gone.
    await run("update");
    ({ code, output } = await run(...install));
  }
  if (code === 0) return lookOnPath(env);
  const cause = explainFailure(output) ?? output.trim().split("\n").at(-1);
  return { missing: `${before.missing}, and apt-get could not install it: ${cause}` };
}
