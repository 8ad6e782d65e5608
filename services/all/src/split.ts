import { obtainServer, pollUntil, startError, startMinio, startNats, type ServerName } from "@tidemark/local";
import { runLocal, say } from "./run-local.ts";
import { startSplitChildren } from "./split-children.ts";
import { startLocally, type LocalParts, type LocalProduct } from "./start-locally.ts";

const READY_MS = 300_000;

async function serverPath(name: ServerName): Promise<string> {
  const found = await obtainServer(name, { log: say });
  if ("missing" in found) throw startError(`${name} cannot be had: ${found.missing}`);
  return found.path;
}

async function isReady(baseUrl: string): Promise<boolean> {
  const answer = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
  return answer?.ok === true;
}

/** Every module as a process of its own, with NATS and MinIO beside them. */
async function startSplit({ folder, settings, baseUrl, onStop, failsWith }: LocalParts): Promise<LocalProduct> {
  const natsPath = await serverPath("nats-server");
  const minioPath = await serverPath("minio");
  const nats = await startNats({ path: natsPath, dir: folder("nats"), log: say });
  onStop(() => nats.stop());
  const minio = await startMinio({ path: minioPath, dir: folder("minio"), log: say });
  onStop(() => minio.stop());
  const children = await startSplitChildren(
    {
      ...settings,
      TIDEMARK_NATS_URL: nats.url,
      TIDEMARK_S3_ENDPOINT: minio.endpoint,
      TIDEMARK_S3_ACCESS_KEY: minio.accessKey,
      TIDEMARK_S3_SECRET_KEY: minio.secretKey,
    },
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
await runLocal((line) => startLocally(line, process.env, startSplit));
