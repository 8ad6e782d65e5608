import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Blob } from "@tidemark/blob";
import { AppError } from "@tidemark/errors";
import { heldBufferBytes, until } from "@tidemark/testkit";
import { startApp, type TestApp } from "../../app.fixture.ts";
import { parseAnswer, rawRequest } from "../../http/raw-request.fixture.ts";
import { artifactsRoutes } from "./routes.ts";
import {
  createTestArtifacts,
  createTestStore,
  PART_BYTES,
  partId,
  partToken,
  readObject,
  runId,
  sessionId,
  sha256Of,
  type Memory,
  senderId,
} from "./transfers.fixture.ts";

const unknownId = "0c9b8a1e-1111-4222-8333-44445555ffff";
const upload = `/api/runs/${runId}/artifacts/upload`;
const complete = `/api/artifact-uploads/${sessionId}/complete`;

let directory = "";
let store: Blob;
let app: TestApp;
let memory: Memory;
let authorization = "";
/** Fails writes while it is set. */
let storeFault: Error | undefined;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tidemark-gateway-"));
  store = createTestStore(directory);
  const service = createTestArtifacts();
  memory = service.memory;
  const objects: Blob = {
    ...store,
    put: (key, body, options) =>
      storeFault === undefined ? store.put(key, body, options) : Promise.reject(storeFault),
  };
  app = await startApp({ routes: artifactsRoutes, options: { clients: service.clients, objects } });
  authorization = `Bearer ${app.addKey(["sdk:ingest"])}`;
  app.addKey(["sdk:ingest"], { id: senderId });
});
afterAll(async () => {
  await app.close();
  await rm(directory, { recursive: true });
});
beforeEach(() => {
  storeFault = undefined;
  for (const list of [memory.reserved, memory.stored, memory.completed]) list.length = 0;
});

async function post(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}${path}`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", ...headers },
    body: body as BodyInit,
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}
const bodyOf = (content: Buffer, more: object = {}): string =>
  JSON.stringify({ name: "a.txt", content_base64: content.toString("base64"), ...more });

describe("POST /api/runs/{run_id}/artifacts/upload", () => {
  test.each([
    ["nothing", 0],
    ["one byte", 1],
    ["what is held until the end", 64 * 1024],
    ["a byte more", 64 * 1024 + 1],
    ["several megabytes", 5_000_001],
  ])("stores %s, with what the server measured", async (_, bytes) => {
    const content = randomBytes(bytes);
    const answer = await post(upload, bodyOf(content, { size_bytes: 1, sha256: "x", metadata: { seed: 1 } }));
    expect(answer).toMatchObject({
      status: 200,
      body: {
        artifact: {
          name: "a.txt",
          mime_type: "text/plain",
          size_bytes: bytes,
          sha256: sha256Of(content),
          metadata: { seed: 1 },
        },
      },
    });
    const { objectId } = memory.stored[0]!.object!;
    expect(memory.reserved).toContain(objectId);
    expect((await readObject(store, objectId))?.equals(content)).toBe(true);
  });

  test("takes gzip, integers beyond 2^53 and a key", async () => {
    const content = randomBytes(300_000);
    const body = `{"metadata":{"seed":12345678901234567890},${bodyOf(content).slice(1)}`;
    const answer = await post(upload, gzipSync(body), { "content-encoding": "gzip", "idempotency-key": "again" });
    expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(Buffer.from(memory.stored[0]!.artifact!.metadataJson).toString()).toBe('{"seed":12345678901234567890}');
    expect(memory.stored[0]!.idempotencyKey).toBe("again");
  });

  test("stores an unknown type as file", async () => {
    await post(upload, bodyOf(Buffer.from("x"), { type: "video", metadata: { a: 1 } }));
    const { artifact } = memory.stored[0]!;
    expect([artifact!.type, Buffer.from(artifact!.metadataJson).toString()]).toEqual([
      "file",
      '{"a":1,"artifact_type":"video"}',
    ]);
  });

  test.each<[string, string, object | string, number, object]>([
    ["malformed JSON", runId, '{"content_base64":"aGk="', 400, { error: "the body is not valid JSON" }],
    [
      "malformed JSON of a run that is missing",
      unknownId,
      '{"content_base64":"aGk="',
      400,
      { error: "the body is not valid JSON" },
    ],
    ["nothing", runId, "", 400, { error: "the body must be a JSON object" }],
    ["a list", runId, "[]", 400, { error: "the body must be a JSON object" }],
    ["a run that is missing, and a bad field", unknownId, { name: 1 }, 404, { error: "run not found" }],
    [
      "a run that is missing, and bad base64",
      unknownId,
      { name: "a", content_base64: "a" },
      404,
      { error: "run not found" },
    ],
    ["no content", runId, { name: "a" }, 400, { field: "content_base64", error: "content_base64 is required" }],
    ["a number as content", runId, { name: "a", content_base64: 0 }, 400, { field: "content_base64" }],
    ["no name", runId, { content_base64: "" }, 400, { field: "name" }],
    ["a name with NUL", runId, { name: "a\0", content_base64: "" }, 400, { field: "name" }],
    ["a blank type", runId, { name: "a", content_base64: "", type: " " }, 400, { field: "type" }],
    ["two contents", runId, '{"content_base64":"","content_base64":""}', 400, {}],
    ["a long rest", runId, { name: "a", content_base64: "", metadata: { a: "x".repeat(1_000_000) } }, 413, {}],
  ])("%s", async (_, run, body, status, answer) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    expect(await post(`/api/runs/${run}/artifacts/upload`, text)).toMatchObject({ status, body: answer });
    expect(memory.stored).toEqual([]);
    expect(memory.reserved).toEqual([]);
  });

  test("of a run that is missing a large content is read to its end and not stored", async () => {
    const answer = await post(`/api/runs/${unknownId}/artifacts/upload`, bodyOf(randomBytes(1_000_000)));
    expect([answer.status, memory.reserved]).toEqual([404, []]);
  });

  test("a large content before malformed JSON: 400, and nothing refers to it", async () => {
    expect((await post(upload, `${bodyOf(randomBytes(1_000_000))}}`)).status).toBe(400);
    expect(memory.stored).toEqual([]);
  });

  test("a store that fails: 503", async () => {
    storeFault = new AppError("service_unavailable", "down", { retryAfterSeconds: 1 });
    for (const bytes of [10, 1_000_000]) {
      const answer = await post(upload, bodyOf(randomBytes(bytes)));
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    }
  });

  test.each<[string, (text: string) => Buffer, Record<string, string>]>([
    ["plain", (text) => Buffer.from(text), {}],
    ["compressed", (text) => gzipSync(text, { level: 1 }), { "content-encoding": "gzip" }],
  ])(
    "67,108,864 bytes are taken and one more is not, %s",
    async (_, encode, headers) => {
      const head = '{"name":"a","content_base64":"';
      const textOf = (count: number): string => {
        const characters = Math.floor((count - head.length - 2) / 4) * 4;
        return `${head}${"A".repeat(characters)}"${" ".repeat(count - head.length - characters - 2)}}`;
      };
      expect((await post(upload, encode(textOf(67_108_864)), headers)).status).toBe(200);
      expect((await post(upload, encode(textOf(67_108_865)), headers)).status).toBe(413);
    },
    60_000,
  );

  test("never holds a large content in memory", async () => {
    const head = '{"name":"a","content_base64":"';
    const length = 48 * 1024 * 1024 - 4096;
    const piece = Buffer.alloc(64 * 1024, "QUJD");
    const characters = Math.floor(((length / 3) * 4) / piece.length) * piece.length;
    const before = heldBufferBytes();
    let most = 0;
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port: app.port });
      const chunks: Buffer[] = [];
      socket.on("data", (chunk) => chunks.push(chunk)).on("error", reject);
      socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
      socket.write(
        `POST ${upload} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${head.length + characters + 2}\r\n\r\n${head}`,
      );
      let sent = 0;
      const send = (): void => {
        for (;;) {
          if (sent === characters) return void socket.write('"}');
          sent += piece.length;
          if (sent % (4 * 1024 * 1024) === 0) {
            most = Math.max(most, heldBufferBytes() - before);
          }
          if (!socket.write(piece)) return void socket.once("drain", send);
        }
      };
      send();
    });
    expect(parseAnswer(answer)).toMatchObject({
      status: 200,
      body: { artifact: { size_bytes: (characters / 4) * 3 } },
    });
    // How much the sockets of both sides hold depends on how busy the machine is; the content has 48 MiB.
    expect(most).toBeLessThan(16 * 1024 * 1024);
  });

  test("a client that leaves in the middle leaves no artifact, and the next one is served", async () => {
    const socket = connect({ host: "127.0.0.1", port: app.port });
    socket.write(
      `POST ${upload} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 500000\r\n\r\n{"name":"a","content_base64":"${"A".repeat(200_000)}`,
    );
    await until("the content is being stored", () => memory.reserved.length > 0);
    const unfinished = (): Promise<string[]> => readdir(join(directory, ".unfinished"));
    await until("a file is being written", async () => (await unfinished()).length > 0);
    socket.destroy();
    await until("nothing is left of the file", async () => (await unfinished()).length === 0);
    expect((await post(upload, bodyOf(Buffer.from("x")))).status).toBe(200);
    expect(memory.stored).toHaveLength(1);
  });

  test("a refusal can be read over a connection that ends with it, while the client sends", async () => {
    const body = "x".repeat(8_000_000);
    for (const version of ["1.0", "1.1"]) {
      const answer = await rawRequest(
        app.port,
        `POST ${upload} HTTP/${version}\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Encoding: br\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
        body,
      );
      expect(parseAnswer(answer)).toMatchObject({
        status: 400,
        body: { error: "the content encoding must be gzip or none" },
      });
    }
  });
});

describe("POST /api/artifact-uploads/{upload_session_id}/complete", () => {
  const entryId = (index: number): string => `0c9b8a1e-0000-4000-8000-${String(index).padStart(12, "0")}`;

  test("stores inline files of all sizes and names the parts of others", async () => {
    const contents = [0, 1, 70_000, 3, 256 * 1024, 20].map((bytes) => randomBytes(bytes));
    const files = contents.map((content, i) => ({ entry_id: entryId(i), content_base64: content.toString("base64") }));
    const parts = [
      { part_number: 1, etag: "e1" },
      { part_number: 2, etag: "e2" },
    ];
    const answer = await post(complete, JSON.stringify({ files: [...files, { entry_id: entryId(9), parts }] }));
    expect(answer.status).toBe(200);
    const sent = memory.completed[0]!.files;
    expect(sent.at(-1)).toMatchObject({
      entryId: entryId(9),
      parts: [
        { partNumber: 1, etag: "e1" },
        { partNumber: 2, etag: "e2" },
      ],
    });
    for (const [i, content] of contents.entries()) {
      expect(sent[i]).toMatchObject({ entryId: entryId(i), inline: { sizeBytes: BigInt(content.length) } });
      expect((await readObject(store, sent[i]!.inline!.objectId))?.equals(content)).toBe(true);
    }
  });

  test("stores a thousand small files", async () => {
    const files = Array.from({ length: 1000 }, (_, i) => ({
      entry_id: entryId(i),
      content_base64: Buffer.alloc(5000, i).toString("base64"),
    }));
    expect((await post(complete, JSON.stringify({ files }))).status).toBe(200);
    expect(new Set(memory.completed[0]!.files.map(({ inline }) => inline!.objectId)).size).toBe(1000);
  });

  test.each<[string, string, object, number, object]>([
    ["an upload that is missing, and no files", unknownId, {}, 404, {}],
    ["no files", sessionId, { files: [] }, 400, { field: "files" }],
    [
      "bad base64",
      sessionId,
      { files: [{ entry_id: entryId(1), content_base64: "!" }] },
      400,
      { field: "files", error: "files[0]: content_base64 must be standard base64 with padding" },
    ],
    ["a bad id", sessionId, { files: [{ entry_id: "1" }] }, 400, { field: "files" }],
    [
      "a part without a tag",
      sessionId,
      { files: [{ entry_id: entryId(1), parts: [{ part_number: 1 }] }] },
      400,
      { field: "files" },
    ],
  ])("%s", async (_, session, body, status, answer) => {
    expect(await post(`/api/artifact-uploads/${session}/complete`, JSON.stringify(body))).toMatchObject({
      status,
      body: answer,
    });
    expect(memory.completed).toEqual([]);
  });
});

describe("PUT /api/upload-parts/{token}", () => {
  const put = async (token: string, body: Buffer, headers: Record<string, string> = {}) => {
    const response = await fetch(`${app.url}/api/upload-parts/${token}`, {
      method: "PUT",
      body: body as BodyInit,
      headers,
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as object };
  };

  test.each([undefined, "application/octet-stream", "application/x-www-form-urlencoded", "application/json"])(
    "takes the bytes of the type %s as they are",
    async (type) => {
      const content = randomBytes(PART_BYTES);
      const answer = await put(partToken, content, {
        origin: "https://app.example",
        ...(type === undefined ? {} : { "content-type": type }),
      });
      expect([answer.status, answer.body, answer.headers.get("etag")]).toEqual([200, {}, `"${sha256Of(content)}"`]);
      expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
      expect((await readObject(store, partId))?.equals(content)).toBe(true);
    },
  );

  test.each<[string, string, number, Record<string, string>, number]>([
    ["an unknown address", "x", PART_BYTES, {}, 404],
    ["an address that has expired", "expired", PART_BYTES, {}, 410],
    ["a byte too few", partToken, PART_BYTES - 1, {}, 400],
    ["a byte too many", partToken, PART_BYTES + 1, {}, 400],
    ["nothing", partToken, 0, {}, 400],
    ["an encoding", partToken, PART_BYTES, { "content-encoding": "gzip" }, 400],
  ])("%s", async (_, token, bytes, headers, status) => {
    expect((await put(token, Buffer.alloc(bytes), headers)).status).toBe(status);
  });

  test("a length is required, and one beyond 5 GiB is too large", async () => {
    const head = `PUT /api/upload-parts/${partToken} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    const chunked = await rawRequest(app.port, `${head}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`);
    expect(parseAnswer(chunked)).toMatchObject({ status: 400, body: { field: "content-length" } });
    const large = await fetch(`${app.url}/api/upload-parts/${partToken}`, { method: "PUT" });
    expect(large.status).toBe(400);
  });
});
