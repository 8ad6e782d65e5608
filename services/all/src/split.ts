import { join } from "node:path";
import {
  freePort,
  obtainServer,
  pollUntil,
  startChild,
  startError,
  startMinio,
  startNats,
  type ServerName,
} from "@tidemark/local";
import { allModules } from "./modules.ts";
import { runLocal, say } from "./run-local.ts";
import { startLocally, type LocalParts, type LocalProduct } from "./start-locally.ts";

/** The processes of a split start. */
type SplitChildren = {
  readonly internalUrls: ReadonlyMap<string, string>;
  /** Resolves with a sentence when one of the processes has ended by itself. */
  readonly failed: Promise<string>;
  /** Ends the gateway first, then the services behind it. */
  stop(): Promise<void>;
};

/** Starts each module as a separate process, with its settings and the ports through which they find each other. */
async function startSplitChildren(
  settingsOf: (module: string) => Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): Promise<SplitChildren> {
  const ports = new Map<string, number>();
  for (const { name } of allModules) {
    ports.set(name, await freePort());
  }
  const internalUrls = new Map([...ports].map(([name, port]) => [name, `http://127.0.0.1:${port}`]));
  const peers = [...internalUrls].map(([name, url]) => `${name}=${url}`).join(",");
  const start = async (name: string) => ({
    name,
    child: await startChild({
      command: process.execPath,
      args: [join(import.meta.dirname, "main.ts"), `--target=${name}`],
      cwd: process.cwd(),
      env: {
        ...settingsOf(name),
        TIDEMARK_INTERNAL_PORT: String(ports.get(name)),
        TIDEMARK_GRPC_PORT: "0",
        TIDEMARK_METRICS_PORT: "0",
        TIDEMARK_PEERS: peers,
      },
      onLine: log,
      stopSignals: [
        { signal: "SIGTERM", waitMs: 15_000 },
        { signal: "SIGKILL", waitMs: 5000 },
      ],
    }),
  });
  const children = await Promise.all(allModules.map(({ name }) => start(name)));
  return {
    internalUrls,
    failed: Promise.race(
      children.map(({ name, child }) =>
        child.exited.then(
          ({ code, signal }) => `${name} has ended (${signal ?? code}): ${child.lastLines().slice(-3).join(" ")}`,
        ),
      ),
    ),
    async stop() {
      for (const { child } of children.toReversed()) {
        // Callers end before the processes that they call.
        await child.stop();
      }
    },
  };
}

const READY_MS = 300_000;

async function serverPath(name: ServerName): Promise<string> {
  const found = await obtainServer(name, { log: say });
  if ("missing" in found) throw startError(`${name} is not available: ${found.missing}`);
  return found.path;
}

async function isReady(baseUrl: string): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
  return answer?.ok === true;
}

/** Starts each module as a separate process, along with NATS and MinIO. */
async function startSplit({ folder, settingsOf, baseUrl, onStop, failsWith }: LocalParts): Promise<LocalProduct> {
  const natsPath = await serverPath("nats-server");
  const minioPath = await serverPath("minio");
  const nats = await startNats({ path: natsPath, dir: folder("nats"), log: say });
  onStop(() => nats.stop());
  const minio = await startMinio({ path: minioPath, dir: folder("minio"), log: say });
  onStop(() => minio.stop());
  const children = await startSplitChildren(
    (name) => ({
      ...settingsOf(name),
      TIDEMARK_NATS_URL: nats.url,
      TIDEMARK_NATS_TOKEN: nats.token,
      TIDEMARK_S3_ENDPOINT: minio.endpoint,
      TIDEMARK_S3_PUBLIC_ENDPOINT: minio.endpoint,
      TIDEMARK_S3_ACCESS_KEY: minio.accessKey,
      TIDEMARK_S3_SECRET_KEY: minio.secretKey,
    }),
    say,
  );
  onStop(() => children.stop());
  failsWith(children.failed);
  failsWith(nats.exited.then(() => "NATS has ended by itself"));
  failsWith(minio.exited.then(() => "MinIO has ended by itself"));

  const answers = async () => ((await isReady(baseUrl)) ? true : undefined);
  const late = pollUntil(answers, { everyMs: 50, timeoutMs: READY_MS }).then((ready) =>
    ready === true ? undefined : "the processes did not become ready",
  );
  const fault = await Promise.race([late, children.failed]);
  if (fault !== undefined) throw startError(fault);
  return {
    controlUrl: children.internalUrls.get("control") ?? "",
    describe: (postgres) => `${children.internalUrls.size} processes over ${postgres}, NATS and MinIO.`,
  };
}

// `npm run split`
const processes = new Map(allModules.map((module) => [module.name, [module]]));
await runLocal((line) => startLocally(line, process.env, processes, startSplit));
