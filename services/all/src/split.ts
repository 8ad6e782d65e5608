import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { obtainServer, pollUntil, startError, startMinio, startNats, startPostgres } from "@tidemark/local";
import { banner } from "./banner.ts";
import { checkPort } from "./check-port.ts";
import type { CommandLine } from "./command-line.ts";
import { openDataDirectory } from "./data-directory.ts";
import { ensureLocalKey } from "./local-key.ts";
import { localDefaults, localSettings } from "./local-settings.ts";
import { runLocal, say, type Running } from "./run-local.ts";
import { startSplitChildren } from "./split-children.ts";

const HOST = "127.0.0.1";
const READY_MS = 60_000;

async function serverPath(name: "nats-server" | "minio"): Promise<string> {
  const found = await obtainServer(name, { log: say });
  if ("missing" in found) throw startError(`${name} cannot be had: ${found.missing}`);
  return found.path;
}

/** Every module as a process of its own over PostgreSQL, NATS and MinIO. */
async function start(line: CommandLine): Promise<Running> {
  const began = performance.now();
  await checkPort(HOST, line.port);
  const data = await openDataDirectory(line.dataDirectory, line.fresh);
  const undo: (() => Promise<void>)[] = [() => data.release()];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
      await step();
    }
  };
  const folder = (name: string): string => join(line.dataDirectory, name);
  try {
    const paths = { nats: await serverPath("nats-server"), minio: await serverPath("minio") };
    const postgres = await startPostgres({ dataDir: folder("postgres"), log: say });
    undo.push(() => postgres.stop());
    const nats = await startNats({ path: paths.nats, dir: folder("nats"), log: say });
    undo.push(() => nats.stop());
    const minio = await startMinio({ path: paths.minio, dir: folder("minio"), log: say });
    undo.push(() => minio.stop());
    const internalToken = randomBytes(24).toString("base64url");
    const { TIDEMARK_BLOB_DIRECTORY: _folder, ...settings } = localSettings({
      port: line.port,
      databaseUrl: postgres.url,
      dataDirectory: line.dataDirectory,
      internalToken,
    });
    const children = await startSplitChildren(
      {
        ...localDefaults,
        ...process.env,
        ...settings,
        TIDEMARK_NATS_URL: nats.url,
        TIDEMARK_S3_ENDPOINT: minio.endpoint,
        TIDEMARK_S3_ACCESS_KEY: minio.accessKey,
        TIDEMARK_S3_SECRET_KEY: minio.secretKey,
      },
      say,
    );
    undo.push(() => children.stop());
    const baseUrl = `http://${HOST}:${line.port}`;
    const answers = async (): Promise<true | undefined> =>
      (await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.ok === true ? true : undefined;
    const ready = pollUntil(answers, { everyMs: 50, timeoutMs: READY_MS }).then((ok) =>
      ok === undefined ? "the processes did not become ready" : undefined,
    );
    const fault = await Promise.race([ready, children.failed]);
    if (fault !== undefined) throw startError(fault);
    const { key, file } = await ensureLocalKey({
      dataDirectory: line.dataDirectory,
      controlUrl: children.internalUrls.get("control") ?? "",
      internalToken,
    });
    say(
      banner({
        baseUrl,
        key,
        keyFile: file,
        dataDirectory: line.dataDirectory,
        mode: `${children.internalUrls.size} processes over PostgreSQL ${postgres.major}, NATS and MinIO.`,
        seconds: (performance.now() - began) / 1000,
      }),
    );
    const failed = Promise.race([
      children.failed,
      postgres.exited.then(() => "PostgreSQL has ended by itself"),
      nats.exited.then(() => "NATS has ended by itself"),
      minio.exited.then(() => "MinIO has ended by itself"),
    ]);
    return { failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

await runLocal(start);
