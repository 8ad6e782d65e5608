import { delimiter, join } from "node:path";
import { explainFailure, findExecutable, runCaptured, startError } from "@tidemark/toolcache";
import type { Log } from "../log.ts";
import type { ServerName, ServerSource } from "./server-sources.ts";

export type Workshop = {
  /** The executable goes here, under the server's name. */
  staged: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  signal: AbortSignal | undefined;
};

/** One way to make a server's executable. Throws StartError with the reason, as a part of a sentence, when it cannot. */
export type MakeServer = (name: ServerName, source: ServerSource, workshop: Workshop) => Promise<void>;

/** Builds the pinned version; the modules come through Go's module proxy and are checked against its checksum database. */
export const buildWithGo: MakeServer = async (name, source, { staged, env, log, signal }) => {
  const go = findExecutable("go", [env["PATH"], "/usr/local/go/bin"].filter(Boolean).join(delimiter));
  if (go === undefined) throw startError("Go is not installed");
  log(`Building ${name} ${source.goVersion} with Go (once, ${source.buildTime})`);
  const { GOOS: _os, GOARCH: _arch, ...inherited } = env;
  const { code, output } = await runCaptured(
    go,
    ["install", "-trimpath", "-ldflags", "-s -w", `${source.goPackage}@${source.goVersion}`],
    {
      cwd: staged,
      env: { ...inherited, GOBIN: staged, GOFLAGS: "", CGO_ENABLED: "0" },
      ...(signal && { signal }),
      stillRunningMs: 15_000,
      onStillRunning: (seconds) => log(`Still building ${name} (${seconds} s)`),
    },
  );
  if (code === 0) return;
  const fault = output.split("\n").findLast((line) => line.trim() !== "" && !line.startsWith("go: downloading"));
  throw startError(`building it with Go failed: ${explainFailure(output) ?? fault ?? `code ${code}`}`);
};

/** Takes the executable out of the project's own container image; needs an engine that answers, and runs no container. */
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
  if (created.code !== 0) throw startError(`the container image ${source.image} could not be had`);
  const container = created.stdout.trim().split("\n").at(-1) ?? "";
  try {
    const copied = await run(["cp", `${container}:${source.imagePath}`, join(staged, name)], 120_000);
    if (copied.code !== 0) throw startError(`the container image ${source.image} has no ${source.imagePath}`);
  } finally {
    await run(["rm", container], 60_000);
  }
};
