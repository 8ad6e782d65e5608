import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { isAppError } from "@tidemark/errors";
import { type Minio, startMinio } from "@tidemark/local";
import { requireServers, until } from "@tidemark/testkit";
import { Client } from "minio";
import { blobContract } from "./blob.contract.ts";
import { bytes, collect, MiB, streamOf } from "./bodies.fixture.ts";
import { createMinioBlob, type MinioBlobOptions } from "./index.ts";

const path = (await requireServers(["minio"]))?.get("minio");
const describeWithMinio = path === undefined ? describe.skip : describe;

const refused = { name: "AppError", reason: "service_unavailable" };

describeWithMinio("the object store on MinIO", () => {
  let dir: string;
  let server: Minio;
  const start = (port?: number): Promise<Minio> => startMinio({ path: path ?? "", dir, port, log: () => {} });
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "tidemark-blob-"));
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const options = (bucket: string): MinioBlobOptions => ({
    endpoint: server.endpoint,
    accessKey: server.accessKey,
    secretKey: server.secretKey,
    bucket,
    partBytes: 5 * MiB,
  });
  const newKey = (): string => `o/${randomUUID()}/${randomUUID()}`;
  const operator = (): Client => {
    const { hostname, port } = new URL(server.endpoint);
    return new Client({
      endPoint: hostname,
      port: Number(port),
      useSSL: false,
      accessKey: server.accessKey,
      secretKey: server.secretKey,
    });
  };

  describe("in single requests, and in parts where the length is not known", () => {
    blobContract(async () => createMinioBlob(options("single")));
  });
  describe("in parts", () => {
    blobContract(async () => createMinioBlob({ ...options("parts"), singlePutBytesMax: 5 * MiB }), {
      bodiesAlone: true,
    });

    test("no part of a failed upload is left behind", async () => {
      const uploads: unknown[] = [];
      for await (const upload of operator().listIncompleteUploads("parts", "", true) as AsyncIterable<unknown>)
        uploads.push(upload);
      expect(uploads).toEqual([]);
    });
  });

  test("the content type is stored, for an upload in parts too", async () => {
    const blob = await createMinioBlob(options("types"));
    const [one, two] = [newKey(), newKey()];
    await blob.put(one, bytes("x"), { contentType: "text/csv" });
    await blob.put(
      two,
      (async function* () {
        yield bytes("x");
      })(),
      { contentType: "image/png" },
    );
    const types = await Promise.all(
      [one, two].map(async (key) => (await operator().statObject("types", key)).metaData),
    );
    expect(types).toEqual([{ "content-type": "text/csv" }, { "content-type": "image/png" }]);
  });

  test("eight processes that make the bucket simultaneously all succeed", async () => {
    const blobs = await Promise.all(Array.from({ length: 8 }, () => createMinioBlob(options("raced"))));
    await expect(Promise.all(blobs.map((blob) => blob.put(newKey(), bytes("x"))))).resolves.toHaveLength(8);
  });

  test("a bucket that was deleted is created again", async () => {
    const blob = await createMinioBlob(options("deleted"));
    expect(await blob.ready()).toBe(true);
    await operator().removeBucket("deleted");
    expect(await blob.ready()).toBe(false);
    expect(await blob.ready()).toBe(true);
    await operator().removeBucket("deleted");
    await expect(blob.put(newKey(), bytes("x"))).rejects.toMatchObject(refused);
    await blob.put(newKey(), bytes("x"));
  });

  test("wrong credentials are not ready and refuse", async () => {
    const blob = await createMinioBlob({ ...options("single"), secretKey: "wrong-secret" });
    expect(await blob.ready()).toBe(false);
    await expect(blob.put(newKey(), bytes("x"))).rejects.toMatchObject(refused);
    await expect(blob.get(newKey())).rejects.toMatchObject(refused);
  });

  test("a server that stops is refused, and used again when it is back", async () => {
    const blob = await createMinioBlob(options("comes-and-goes"));
    const key = newKey();
    await blob.put(key, bytes("kept"));
    const upload = await blob.beginParts(key, { partBytes: 5 * MiB });
    const { etag } = await blob.putPart(key, upload, 1, streamOf(bytes("x")), { size: 1 });
    await server.stop();
    expect(await blob.ready()).toBe(false);
    await expect(blob.put(key, bytes("x"))).rejects.toMatchObject(refused);
    await expect(blob.get(key)).rejects.toMatchObject(refused);
    await expect(blob.head(key)).rejects.toMatchObject(refused);
    await expect(blob.remove(key)).rejects.toMatchObject(refused);
    await expect(blob.beginParts(key, { partBytes: 5 * MiB })).rejects.toMatchObject(refused);
    await expect(blob.putPart(key, upload, 1, streamOf(bytes("x")), { size: 1 })).rejects.toMatchObject(refused);
    await expect(blob.listParts(key, upload)).rejects.toMatchObject(refused);
    await expect(blob.finishParts(key, upload, [{ partNumber: 1, etag }])).rejects.toMatchObject(refused);
    await expect(blob.list("o/")[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused);
    server = await start(server.port);
    expect(await blob.ready()).toBe(true);
    expect(await blob.head(key)).toMatchObject({ sizeBytes: 4 });
    expect(await blob.finishParts(key, upload, [{ partNumber: 1, etag }])).toEqual({ sizeBytes: 1 });
  });

  test("a kept connection that ends when it is used again costs no read", async () => {
    const real = Number(new URL(server.endpoint).port);
    const cut = { next: 0 };
    const proxy = createServer((socket) => {
      const upstream = connect(real, "127.0.0.1");
      let used = false;
      socket.on("error", () => upstream.destroy()).on("close", () => upstream.destroy());
      upstream.on("error", () => socket.destroy()).pipe(socket);
      socket.on("data", (data) => {
        if (used && cut.next > 0) {
          cut.next -= 1;
          socket.resetAndDestroy();
        } else upstream.write(data);
        used = true;
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = proxy.address() as AddressInfo;
      const blob = await createMinioBlob({ ...options("kept-connections"), endpoint: `http://127.0.0.1:${port}` });
      const key = newKey();
      await blob.put(key, bytes("kept"));
      cut.next = 1;
      expect(await blob.head(key)).toMatchObject({ sizeBytes: 4 });
      cut.next = 1;
      expect((await collect((await blob.get(key))!.body)).toString()).toBe("kept");
      expect(cut.next).toBe(0);
    } finally {
      proxy.close();
    }
  });

  test("a server that hangs is not waited for forever", async () => {
    const blob = await createMinioBlob(options("single"));
    expect(await blob.ready()).toBe(true);
    process.kill(server.pid, "SIGSTOP");
    try {
      // The signal takes a moment to stop every thread of the server.
      await Promise.all([
        until("the server not to be ready", async () => !(await blob.ready())),
        until("a read to be refused", async () => {
          const outcome: unknown = await blob.head(newKey()).catch((error: unknown) => error);
          return isAppError(outcome) && outcome.reason === "service_unavailable";
        }),
      ]);
    } finally {
      process.kill(server.pid, "SIGCONT");
    }
    expect(await blob.ready()).toBe(true);
  });
});
