import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ChildExit, Log, StopStep } from "../start-child.ts";
import { startServerIn } from "./start-server-in.ts";

export type MinioOptions = {
  /** The executable, as obtainServer returns it. */
  path: string;
  /** The server's own folder; made if missing. Holds `objects/` and `credentials.json` (mode 0600), kept over restarts. */
  dir: string;
  /** Port on 127.0.0.1; default: a free one. */
  port?: number | undefined;
  log: Log;
  /** Lines that the server itself prints. Default: nothing. */
  onServerLine?: Log | undefined;
};

/** A MinIO server that answers. */
export type Minio = {
  /** `http://127.0.0.1:<port>`. */
  endpoint: string;
  port: number;
  accessKey: string;
  secretKey: string;
  pid: number;
  exited: Promise<ChildExit>;
  /** Stops the server and releases the folder. May be called twice. */
  stop(): Promise<void>;
};

type Credentials = { accessKey: string; secretKey: string };

const stopSteps: readonly StopStep[] = [
  { signal: "SIGTERM", waitMs: 15_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

/**
 * Runs a MinIO server for this process on 127.0.0.1, with its objects in one folder and without its web console. It ends with
 * this process, even when this process is killed.
 *
 * @throws StartError in one line: folder or port in use, folder not writable, or the server's own reason
 */
export async function startMinio({ path, dir, port, log, onServerLine }: MinioOptions): Promise<Minio> {
  const folder = resolve(dir);
  let credentials: Credentials = { accessKey: "", secretKey: "" };
  const server = await startServerIn({
    title: "MinIO",
    path,
    folder,
    port,
    log,
    onLine: onServerLine,
    stopSteps,
    async prepare(chosen) {
      const objects = join(folder, "objects");
      await mkdir(objects, { recursive: true });
      credentials = await keptCredentials(join(folder, "credentials.json"));
      return {
        args: ["server", "--quiet", "--address", `127.0.0.1:${chosen}`, objects],
        env: {
          MINIO_ROOT_USER: credentials.accessKey,
          MINIO_ROOT_PASSWORD: credentials.secretKey,
          MINIO_BROWSER: "off",
          // Otherwise it would look for newer versions on the network.
          MINIO_UPDATE: "off",
        },
      };
    },
    isReady: (chosen) => answers(chosen, credentials),
    explain: (lines) => lines.find((line) => /^\s*(FATAL|ERROR)\b/.test(line))?.trim(),
  });
  return { ...server, endpoint: `http://127.0.0.1:${server.port}`, ...credentials };
}

async function keptCredentials(file: string): Promise<Credentials> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text !== undefined) return JSON.parse(text) as Credentials;
  const made = { accessKey: "tidemark", secretKey: randomBytes(24).toString("base64url") };
  await writeFile(file, JSON.stringify(made), { mode: 0o600 });
  return made;
}

// Its own health check says ready while it still answers the first requests with 503.
async function answers(port: number, credentials: Credentials): Promise<boolean> {
  try {
    return (await listBucketsStatus(`http://127.0.0.1:${port}`, credentials)) === 200;
  } catch {
    return false;
  }
}

/**
 * Lists all buckets of an S3 server with credentials and returns the status of the answer.
 *
 * @param endpoint `http://host:port`
 */
export async function listBucketsStatus(
  endpoint: string,
  { accessKey, secretKey }: { accessKey: string; secretKey: string },
): Promise<number> {
  // Imported here, because only a start with MinIO needs to load it.
  const { AwsClient } = await import("aws4fetch");
  const keys = { accessKeyId: accessKey, secretAccessKey: secretKey };
  const client = new AwsClient({ ...keys, service: "s3", region: "us-east-1", retries: 0 });
  const response = await client.fetch(`${endpoint}/`, { signal: AbortSignal.timeout(10_000) });
  await response.body?.cancel();
  return response.status;
}
