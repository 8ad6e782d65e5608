import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { request } from "undici";
import type { Caller } from "./archive.fixture.ts";

/** Values of a project whose export is more than all buffers on its way to a client hold. */
const [KEYS, REQUESTS, POINTS] = [40, 40, 500];

/** How many values a large project has. */
export const LARGE_VALUES = KEYS * REQUESTS * POINTS;

/** Writes a project with one run and `LARGE_VALUES` values, or a part of them, and returns the id of the run. */
export async function writeLargeProject(api: Caller, project: string, part = 1): Promise<string> {
  const { id } = (await api.post("/runs", { project })).json.run as { id: string };
  for (let from = 0; from < REQUESTS * part; from++) {
    const points = Array.from({ length: POINTS }, (_, i) => ({
      step: POINTS * from + i,
      metrics: Object.fromEntries(Array.from({ length: KEYS }, (__, k) => [`k${k}`, Math.sin(i + k)])),
    }));
    const { status, text } = await api.post(`/runs/${id}/metrics/batch`, { points });
    if (status !== 200) throw new Error(text);
  }
  return id;
}

/** An answer as bytes. */
export type Bytes = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
};

/** Asks for bytes, not compressed. */
export async function getBytes(url: string, key: string, headers: Record<string, string> = {}): Promise<Bytes> {
  const answer = await request(url, { headers: { authorization: `Bearer ${key}`, ...headers } });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes: Buffer.from(await answer.body.arrayBuffer()),
  };
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A client that reads the beginning of an answer and then no more. */
export type Unread = {
  readonly status: number;
  /** Of the answer's head. */
  readonly head: string;
  readonly socket: Socket;
};

/** Asks for an answer and stops reading when its beginning is there. */
export async function openUnread(url: string, key: string): Promise<Unread> {
  const { port, hostname, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n\r\n`,
  );
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  const head = first.toString("latin1").split("\r\n\r\n", 1)[0]!;
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, socket };
}
