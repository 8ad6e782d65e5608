import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, startChild } from "@tidemark/local";
import { until } from "@tidemark/testkit";
import { attach, type Stack } from "../stack/attach.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/** The tree of a commit, in a separate folder. */
export type ReleaseTree = {
  /** False while there is no release and the last commit is used instead. */
  readonly isRelease: boolean;
  /** Migrates a database with the migration job of the tree. */
  migrate(ownerUrl: string): Promise<void>;
  /** Starts all modules of the tree in one process over a database that is up to date. */
  start(ownerUrl: string): Promise<{ readonly stack: Stack; stop(): Promise<void> }>;
  remove(): Promise<void>;
};

/** Returns the newest tag `v*` that the present commit descends from; undefined when there is none. */
async function newestTag(): Promise<string | undefined> {
  const { stdout } = await run("git", ["tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname"], {
    cwd: root,
  });
  return stdout.split("\n")[0] || undefined;
}

const surroundings = (): Record<string, string> =>
  Object.fromEntries(
    ["PATH", "HOME", "TIDEMARK_CACHE_DIR", "NODE_COMPILE_CACHE"].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Exports the last release. Its launcher installs the dependencies of its own lock file when it first runs something. */
export async function exportLastRelease(): Promise<ReleaseTree> {
  const tag = await newestTag();
  const directory = await mkdtemp(join(tmpdir(), "tidemark-release-"));
  const archive = join(directory, "tree.tar");
  await run("git", ["archive", `--output=${archive}`, tag ?? "HEAD"], { cwd: root });
  await run("tar", ["-xf", archive, "-C", directory]);
  await rm(archive);
  const launch = (file: string, ...args: string[]) => [
    "scripts/launch.mjs",
    "run",
    `services/all/src/${file}`,
    ...args,
  ];
  return {
    isRelease: tag !== undefined,
    async migrate(ownerUrl) {
      const env = { ...surroundings(), TIDEMARK_OWNER_DATABASE_URL: ownerUrl };
      await run(process.execPath, launch("migrate.ts"), { cwd: directory, env });
    },
    start: (ownerUrl) => startAll(directory, launch("main.ts", "--target=all"), ownerUrl),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

async function startAll(directory: string, args: readonly string[], ownerUrl: string) {
  const [port, internalPort, grpcPort, metricsPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const bootstrapToken = "bootstrap-token-of-the-last-release-0123456789";
  const internalToken = "internal-token-of-the-last-release-0123456789";
  const blobDirectory = join(directory, "blobs");
  const child = await startChild({
    command: process.execPath,
    args,
    cwd: directory,
    env: {
      ...surroundings(),
      TIDEMARK_DATABASE_URL: ownerUrl,
      TIDEMARK_MIGRATE: "off",
      TIDEMARK_BLOB_DIRECTORY: blobDirectory,
      TIDEMARK_PORT: String(port),
      TIDEMARK_INTERNAL_PORT: String(internalPort),
      TIDEMARK_GRPC_PORT: String(grpcPort),
      TIDEMARK_METRICS_PORT: String(metricsPort),
      TIDEMARK_BOOTSTRAP_TOKEN: bootstrapToken,
      TIDEMARK_INTERNAL_TOKEN: internalToken,
      TIDEMARK_LIMITS: "off",
    },
  });
  const stop = async (): Promise<void> => void (await child.stop());
  const stack = attach({
    mode: "embedded",
    baseUrl: `http://127.0.0.1:${port}`,
    bootstrapToken,
    internalToken,
    databaseUrl: ownerUrl,
    blobDirectory,
    grpcPorts: [],
    internalPorts: [],
    metricsPorts: [],
  });
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  await until("the last release to be ready", async () => {
    if (ended) return true;
    return (await stack.api.get("/readyz")).status === 200;
  });
  if (ended) throw new Error(`the last release ended:\n${child.lastLines().join("\n")}`);
  return { stack, stop };
}
