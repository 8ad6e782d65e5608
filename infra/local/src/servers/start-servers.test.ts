import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { freePort } from "../free-port.ts";
import { eventually } from "../held-server.fixture.ts";
import { processesIn } from "../claim-folder.ts";
import { startChild } from "../start-child.ts";
import { findServer } from "./find-server.ts";
import { listBucketsStatus, startMinio } from "./start-minio.ts";
import { natsConfiguration, startNats } from "./start-nats.ts";

// Tests that need the servers note missing ones; these only use existing ones.
const nats = await findServer("nats-server");
const minio = await findServer("minio");
const log = (): void => {};

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "servers "));
});

afterAll(() => rm(folder, { recursive: true }));

test("the configuration of NATS names a folder with any characters", () => {
  expect(natsConfiguration(4222, '/a b/"c"', "t")).toContain('store_dir: "/a b/\\"c\\""');
});

/** One command of NATS's text protocol, and everything received until the answer to a ping. */
async function askNats({ port, token }: { port: number; token?: string }, command: string): Promise<string> {
  const socket = createConnection({ host: "127.0.0.1", port });
  socket.write(`CONNECT ${JSON.stringify({ verbose: false, auth_token: token })}\r\nSUB reply 1\r\n${command}PING\r\n`);
  let text = "";
  for await (const bytes of socket) {
    text += String(bytes);
    if ((text.includes("MSG reply") && text.includes("PONG")) || text.includes("-ERR")) break;
  }
  return text;
}

const request = (subject: string, body: string): string =>
  `PUB ${subject} reply ${Buffer.byteLength(body)}\r\n${body}\r\n`;

("path" in nats ? describe : describe.skip)("NATS", () => {
  const path = "path" in nats ? nats.path : "";

  test("keeps its streams over a restart, and is free for the next one when it has stopped", async () => {
    const dir = join(folder, "nats");
    const first = await startNats({ path, dir, log });
    expect(first.url).toBe(`nats://127.0.0.1:${first.port}`);
    const stream = JSON.stringify({ name: "kept", subjects: ["kept.>"], storage: "file" });
    expect(await askNats(first, request("$JS.API.STREAM.CREATE.kept", stream))).toContain('"did_create":true');
    await expect(startNats({ path, dir, log })).rejects.toMatchObject({
      name: "StartError",
      message: expect.stringContaining("in use by another Tidemark"),
    });
    await first.stop();
    const second = await startNats({ path, dir, port: first.port, log });
    expect(await askNats(second, request("$JS.API.STREAM.NAMES", ""))).toContain('"streams":["kept"]');
    await second.stop();
  });

  test("answers only who presents its token, which it keeps to itself and over a restart", async () => {
    const dir = join(folder, "nats-token");
    const first = await startNats({ path, dir, log });
    const names = request("$JS.API.STREAM.NAMES", "");
    expect(await askNats(first, names)).toContain('"streams":');
    expect(await askNats({ port: first.port, token: "another" }, names)).toContain("Authorization Violation");
    expect(await askNats({ port: first.port }, names)).toContain("Authorization Violation");
    for (const file of ["token", "nats.conf"]) expect((await stat(join(dir, file))).mode & 0o777).toBe(0o600);
    await first.stop();
    const second = await startNats({ path, dir, log });
    expect(second.token).toBe(first.token);
    expect(first.token).toMatch(/^[\w-]{32}$/);
    await second.stop();
  });

  test("a server that was not ended is stopped by the next start", async () => {
    const dir = join(folder, "nats-left");
    const config = join(dir, "nats.conf");
    await mkdir(dir);
    await writeFile(config, natsConfiguration(await freePort(), dir, "t"));
    const left = await startChild({ command: path, args: ["-c", config], cwd: dir, env: {} });
    await eventually(async () => (await processesIn(dir, basename(path)))[0]);
    const next = await startNats({ path, dir, log });
    await left.exited;
    await next.stop();
    expect(await next.exited).toMatchObject({ signal: null });
  });

  test("a port in use is one clear line", async () => {
    const port = await freePort();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    await expect(startNats({ path, dir: join(folder, "nats-port"), port, log })).rejects.toMatchObject({
      name: "StartError",
      message: `port ${port}, meant for NATS, is in use by another program`,
    });
    await new Promise((resolve) => other.close(resolve));
  });

  test("a server that does not start gives its reason", async () => {
    const dir = join(folder, "nats-broken");
    await mkdir(join(dir), { recursive: true });
    await writeFile(join(dir, "jetstream"), "a file in its way");
    await expect(startNats({ path, dir, log })).rejects.toMatchObject({
      name: "StartError",
      message: expect.stringMatching(/^NATS in .* did not start: .*JetStream/i),
    });
  });
});

("path" in minio ? describe : describe.skip)("MinIO", () => {
  const path = "path" in minio ? minio.path : "";

  test("answers only with its credentials, which it keeps to itself and over a restart", async () => {
    const dir = join(folder, "minio");
    const first = await startMinio({ path, dir, log });
    expect((await fetch(`${first.endpoint}/`)).status).toBe(403);
    expect(await listBucketsStatus(first.endpoint, first)).toBe(200);
    expect(await listBucketsStatus(first.endpoint, { ...first, secretKey: "wrong" })).toBe(403);
    expect((await stat(join(dir, "credentials.json"))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(join(dir, "credentials.json"), "utf8"))).toEqual({
      accessKey: first.accessKey,
      secretKey: first.secretKey,
    });
    await first.stop();
    await expect(fetch(`${first.endpoint}/`)).rejects.toThrow("fetch failed");
    const second = await startMinio({ path, dir, port: first.port, log });
    expect(second).toMatchObject({ endpoint: first.endpoint, secretKey: first.secretKey });
    await second.stop();
  });
});
