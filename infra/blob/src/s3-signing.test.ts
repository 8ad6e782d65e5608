import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Minio, startMinio } from "@tidemark/local";
import { requireServers, until } from "@tidemark/testkit";
import type { Blob, SignedPut } from "./blob.ts";
import { bytes, collect, MiB, sha256 } from "./bodies.fixture.ts";
import { createMinioBlob } from "./index.ts";

const path = (await requireServers(["minio"]))?.get("minio");
const describeWithMinio = path === undefined ? describe.skip : describe;

describeWithMinio("signed addresses of MinIO", () => {
  const good = bytes("the announced bytes");
  const seconds = 600;
  const partBytes = 5 * MiB;
  let dir: string;
  let server: Minio;
  let blob: Blob;
  let key: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "tidemark-blob-"));
    server = await startMinio({ path: path ?? "", dir, log: () => {} });
    blob = await openBlob();
  });
  afterAll(async () => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });
  beforeEach(() => {
    key = `o/${randomUUID()}/${randomUUID()}`;
  });

  async function openBlob(publicEndpoint?: string): Promise<Blob> {
    const { endpoint, accessKey, secretKey } = server;
    const options = { endpoint, accessKey, secretKey, bucket: "signed" };
    return createMinioBlob({ ...options, publicEndpoint: publicEndpoint ?? endpoint });
  }
  async function signed(options: { hash?: string; seconds?: number; by?: Blob } = {}): Promise<SignedPut> {
    const { signed: signer } = options.by ?? blob;
    const address = await signer?.put(key, {
      sha256: options.hash ?? sha256(good),
      seconds: options.seconds ?? seconds,
    });
    if (address === undefined) throw new Error("no address");
    return address;
  }
  async function signedPart(upload: string, partNumber: number): Promise<SignedPut> {
    const address = await blob.signed?.part(key, upload, partNumber, { seconds });
    if (address === undefined) throw new Error("no address");
    return address;
  }
  async function send({ url, headers }: SignedPut, body: Uint8Array, more: Record<string, string> = {}) {
    const answer = await fetch(url, { method: "PUT", headers: { ...headers, ...more }, body: Buffer.from(body) });
    await answer.arrayBuffer();
    return answer;
  }
  const stored = async (): Promise<string | undefined> => {
    const found = await blob.get(key);
    return found && (await collect(found.body)).toString();
  };

  describe("of a whole object", () => {
    test("take the announced bytes, also twice, and have their hash afterwards", async () => {
      const address = await signed();
      expect(address.headers).toEqual({
        "content-type": "application/octet-stream",
        "x-amz-checksum-sha256": createHash("sha256").update(good).digest("base64"),
      });
      expect((await send(address, good)).status).toBe(200);
      expect(await blob.head(key)).toMatchObject({ sizeBytes: good.byteLength, sha256: sha256(good) });
      expect((await send(address, good)).status).toBe(200);
      expect(await stored()).toBe(Buffer.from(good).toString());
      expect((await blob.put(key, good)).sha256).toBe(sha256(good));
      expect(await blob.head(key)).not.toHaveProperty("sha256");
    });

    test("take nothing, where nothing was announced", async () => {
      const address = await signed({ hash: sha256() });
      expect((await send(address, good)).status).toBe(400);
      expect((await send(address, new Uint8Array())).status).toBe(200);
      expect(await blob.head(key)).toMatchObject({ sizeBytes: 0, sha256: sha256() });
    });

    test.each([
      ["other bytes", {}, bytes("other bytes")],
      ["fewer bytes", {}, good.subarray(1)],
      ["the hash of the other bytes", { "x-amz-checksum-sha256": hashOf("other bytes") }, bytes("other bytes")],
      ["two hashes", { "x-amz-checksum-crc32": crcOf("other bytes") }, bytes("other bytes")],
      [
        "another way to hash",
        { "x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-crc32": crcOf("other bytes") },
        bytes("other bytes"),
      ],
      ["a hash behind the bytes", { "x-amz-trailer": "x-amz-checksum-crc32" }, bytes("other bytes")],
      ["a hash of the request", { "x-amz-content-sha256": sha256(bytes("other bytes")) }, bytes("other bytes")],
      ["a key of its own", { "x-amz-server-side-encryption-customer-algorithm": "AES256" }, good],
    ])("refuse %s, also over the announced ones", async (_, headers, body) => {
      const address = await signed();
      const first = await send(address, body, headers);
      expect([400, 403]).toContain(first.status);
      expect(await stored()).toBeUndefined();
      await send(address, good);
      expect([400, 403]).toContain((await send(address, body, headers)).status);
      expect(await stored()).toBe(Buffer.from(good).toString());
    });

    test("refuse to copy another object", async () => {
      const secret = `o/${randomUUID()}/${randomUUID()}`;
      await blob.put(secret, bytes("of another organization"));
      const copy = { "x-amz-copy-source": `/signed/${secret}` };
      expect((await send(await signed(), new Uint8Array(), copy)).status).toBe(403);
      expect(await stored()).toBeUndefined();
    });

    test("refuse a request without the hash, another object, another method, and a changed address", async () => {
      const { url, headers } = await signed();
      expect((await send({ url, headers: {} }, good)).status).toBe(400);
      const other = `o/${randomUUID()}/${randomUUID()}`;
      expect((await send({ url: url.replace(key, other), headers }, good)).status).toBe(403);
      expect((await fetch(url, { headers })).status).toBe(403);
      expect((await fetch(url, { method: "DELETE", headers })).status).toBe(403);
      const longer = url.replace("X-Amz-Expires=600", "X-Amz-Expires=6000");
      expect(longer).not.toBe(url);
      expect((await send({ url: longer, headers }, good)).status).toBe(403);
      const unpinned = url.replaceAll("x-amz-copy-source=&", "").replaceAll("%3Bx-amz-copy-source", "");
      expect(unpinned).not.toBe(url);
      expect((await send({ url: unpinned, headers }, good)).status).toBe(403);
      expect(await stored()).toBeUndefined();
    });

    test("refuse after their time", async () => {
      const address = await signed({ seconds: 1 });
      await until("the address to run out", async () => (await send(address, good)).status === 403);
      await blob.remove(key);
      expect((await send(address, good)).status).toBe(403);
      expect(await stored()).toBeUndefined();
    });

    test("name the host that clients reach", async () => {
      const reachable = server.endpoint.replace("127.0.0.1", "localhost");
      expect(reachable).not.toBe(server.endpoint);
      const address = await signed({ by: await openBlob(reachable) });
      expect(address.url.startsWith(`${reachable}/signed/${key}?`)).toBe(true);
      expect((await send(address, good)).status).toBe(200);
      await expect(openBlob("https://files.example.com/s3")).rejects.toThrow("path");
    });
  });

  describe("of a part", () => {
    test("take any bytes, also twice, along with parts that are put", async () => {
      const upload = await blob.beginParts(key, { partBytes });
      const first = randomBytes(partBytes);
      const address = await signedPart(upload, 1);
      expect(address.headers).toEqual({ "content-type": "application/octet-stream" });
      expect((await send(address, good)).status).toBe(200);
      const answer = await send(address, first);
      const etag = answer.headers.get("etag")?.replaceAll('"', "") ?? "";
      async function* body(): AsyncGenerator<Uint8Array> {
        yield good;
      }
      const two = await blob.putPart(key, upload, 2, body(), { size: good.byteLength });
      expect(await blob.listParts(key, upload)).toMatchObject([{ etag, sizeBytes: partBytes }, two]);
      await blob.finishParts(key, upload, [
        { partNumber: 1, etag },
        { partNumber: 2, ...two },
      ]);
      expect(await stored()).toBe(Buffer.concat([first, good]).toString());
      expect(await blob.head(key)).not.toHaveProperty("sha256");
    });

    test("refuse after the upload was finished or removed", async () => {
      const upload = await blob.beginParts(key, { partBytes });
      const addresses = [await signedPart(upload, 1), await signedPart(upload, 2)] as const;
      const etag = (await send(addresses[0], good)).headers.get("etag")?.replaceAll('"', "") ?? "";
      await blob.finishParts(key, upload, [{ partNumber: 1, etag }]);
      expect((await send(addresses[0], good)).status).toBe(404);
      expect((await send(addresses[1], good)).status).toBe(404);

      const removed = await blob.beginParts(key, { partBytes });
      const address = await signedPart(removed, 1);
      await send(address, good);
      await blob.remove(key);
      expect((await send(address, good)).status).toBe(404);
      expect(await blob.listParts(key, removed)).toBeUndefined();
    });

    test("refuse another part, another upload, and to copy another object", async () => {
      const [upload, other] = [await blob.beginParts(key, { partBytes }), await blob.beginParts(key, { partBytes })];
      const { url, headers } = await signedPart(upload, 1);
      const of = (id: string): string => encodeURIComponent(id.slice(id.indexOf("-") + 1));
      const second = url.replace("partNumber=1", "partNumber=2");
      const foreign = url.replace(of(upload), of(other));
      expect([second, foreign]).not.toContain(url);
      expect((await send({ url: second, headers }, good)).status).toBe(403);
      expect((await send({ url: foreign, headers }, good)).status).toBe(403);
      const secret = `o/${randomUUID()}/${randomUUID()}`;
      await blob.put(secret, bytes("of another organization"));
      const copy = { "x-amz-copy-source": `/signed/${secret}` };
      expect((await send({ url, headers }, new Uint8Array(), copy)).status).toBe(403);
      expect(await blob.listParts(key, upload)).toEqual([]);
      expect(await blob.listParts(key, other)).toEqual([]);
    });
  });

  test("arguments of another shape are refused", async () => {
    const put = (at: string, hash: string, validity: number) =>
      blob.signed?.put(at, { sha256: hash, seconds: validity });
    await expect(put("o/x/y", sha256(), seconds)).rejects.toThrow(TypeError);
    await expect(put(key, "abc", seconds)).rejects.toThrow(TypeError);
    await expect(put(key, sha256().toUpperCase(), seconds)).rejects.toThrow(TypeError);
    await expect(put(key, sha256(), 0)).rejects.toThrow(TypeError);
    await expect(put(key, sha256(), 604_801)).rejects.toThrow(TypeError);
    await expect(blob.signed?.part(key, "../x", 1, { seconds })).rejects.toMatchObject({ reason: "not_found" });
    const upload = await blob.beginParts(key, { partBytes });
    await expect(blob.signed?.part(key, upload, 0, { seconds })).rejects.toThrow(TypeError);
  });
});

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function crcOf(text: string): string {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(text));
  return checksum.toString("base64");
}
