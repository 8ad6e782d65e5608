import { randomBytes } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join, resolve } from "node:path";
import { startError } from "../toolcache/failures.mjs";
import type { ChildExit, Log, StopStep } from "../start-child.ts";
import { startServerIn } from "./start-server-in.ts";

export type NatsOptions = {
  /** The executable, as obtainServer returns it; 2.12 or newer. */
  path: string;
  /** The server's own folder; made if missing. Streams are kept in it over restarts, and the token (`token`, mode 0600). */
  dir: string;
  /** Port on 127.0.0.1; default: a free one. */
  port?: number | undefined;
  /** The token that clients must present; default: the one in the folder, which gets a random one at the first start. */
  token?: string | undefined;
  log: Log;
  /** Lines that the server itself prints. Default: nothing. */
  onServerLine?: Log | undefined;
};

/** A NATS server with JetStream that accepts connections. */
export type Nats = {
  /** `nats://` URL, without the token. */
  url: string;
  /** The token that clients must present: other users of this machine reach the port, too. Kept over restarts. */
  token: string;
  port: number;
  pid: number;
  exited: Promise<ChildExit>;
  /** Stops the server and releases the folder. May be called twice. */
  stop(): Promise<void>;
};

const stopSteps: readonly StopStep[] = [
  { signal: "SIGTERM", waitMs: 10_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
];

/**
 * Runs a NATS server for this process on 127.0.0.1, with JetStream on files: a message counts as stored once it is flushed to
 * the disk. It ends with this process, even when this process is killed.
 *
 * @throws StartError in one line: folder or port in use, folder not writable, or the server's own reason
 */
export async function startNats({ path, dir, port, token: given, log, onServerLine }: NatsOptions): Promise<Nats> {
  const folder = resolve(dir);
  let token = given ?? "";
  const server = await startServerIn({
    title: "NATS",
    path,
    folder,
    port,
    log,
    onLine: onServerLine,
    stopSteps,
    async prepare(chosen) {
      const config = join(folder, "nats.conf");
      token = given ?? (await keptToken(join(folder, "token")));
      await writeFile(config, natsConfiguration(chosen, folder, token), { mode: 0o600 });
      await chmod(config, 0o600);
      return { args: ["-c", config], env: {} };
    },
    isReady: offersJetStream,
    explain: (lines) => lines.find((line) => line.includes("[FTL]"))?.replace(/^.*\[FTL\]\s*/, ""),
  });
  return { ...server, url: `nats://127.0.0.1:${server.port}`, token };
}

/** Returns the token that the folder holds; a folder without one gets a random one. */
async function keptToken(file: string): Promise<string> {
  const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  if (kept !== "") return kept;
  const token = randomBytes(24).toString("base64url");
  await writeFile(file, token, { mode: 0o600 });
  return token;
}

/** Returns the server's configuration file; the streams are in `<store>/jetstream`. Pure. */
export function natsConfiguration(port: number, store: string, token: string): string {
  return [
    "server_name: tidemark-local",
    "host: 127.0.0.1",
    `port: ${port}`,
    `authorization { token: ${JSON.stringify(token)} }`,
    `jetstream { store_dir: ${JSON.stringify(store)}, sync_interval: always }`,
    "",
  ].join("\n");
}

/** A server greets every connection with its capabilities. */
async function offersJetStream(port: number): Promise<boolean> {
  const greeting = await new Promise<string>((done) => {
    const socket = createConnection({ host: "127.0.0.1", port });
    let text = "";
    const finish = (): void => {
      socket.destroy();
      done(text);
    };
    socket.setTimeout(10_000, finish);
    socket.once("error", finish).once("close", finish);
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (text.includes("\r\n")) finish();
    });
  });
  if (!greeting.startsWith("INFO ")) return false;
  if ((JSON.parse(greeting.slice(5)) as { jetstream?: boolean }).jetstream === true) return true;
  throw startError(`the server on port ${port} is a NATS server without JetStream`);
}
