import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startApp, type TestApp } from "../app.fixture.ts";
import type { Route } from "../route.ts";
import { parseAnswer, rawRequest } from "../http/raw-request.fixture.ts";
import { createBodyPieces } from "./chunks.ts";
import { arriving } from "./arrival.ts";

test("the pieces are the chunks, in their order", () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 4000, max: 70_000 })), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(sizes, (lengths) => {
      const chunks = lengths.map((length, i) => Buffer.alloc(length, i));
      const pieces = createBodyPieces();
      for (const chunk of chunks) pieces.add(chunk);
      expect(Buffer.concat(pieces.take()).equals(Buffer.concat(chunks))).toBe(true);
    }),
  );
});

test("a single chunk is not copied", () => {
  const [pieces, chunk] = [createBodyPieces(), Buffer.from("{}")];
  pieces.add(chunk);
  expect(pieces.take()).toEqual([chunk]);
  expect(pieces.take()[0]).toBe(chunk);
});

test.each([
  ["single bytes", 1_000_000, () => 1],
  ["single bytes between larger chunks", 2_000_000, (i: number) => (i % 2 === 0 ? 1 : 4096)],
])("%s become few pieces of little more than their bytes", (_, total, lengthOf) => {
  const pieces = createBodyPieces();
  let length = 0;
  for (let i = 0; length < total; i += 1) {
    const chunk = Buffer.alloc(lengthOf(i));
    length += chunk.length;
    pieces.add(chunk);
  }
  const kept = pieces.take();
  expect(kept.length).toBeLessThanOrEqual(total / 2000);
  const held = new Set(kept.map(({ buffer }) => buffer));
  expect([...held].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(3 * total);
});

const facts = {
  method: "POST",
  tag: "test",
  summary: "Returns what arrived",
  rate: "general",
  idempotency: "none",
  schemas: { response: { type: "object" } },
  statuses: [200],
  body: "required",
  callers: { kind: "anyone" },
} as const;

/** Returns the lengths of the pieces in which a handler reads a body. */
const pieces: Route = {
  ...facts,
  path: "/pieces",
  streamed: "bytes",
  handle: async (_input, _clients, _call, { request }) => {
    const lengths: number[] = [];
    let text = "";
    for await (const piece of arriving(request)) {
      lengths.push(piece.length);
      text += piece.toString("latin1");
    }
    return { body: { lengths, isRight: text === textOf(text.length), length: text.length } };
  },
};

const parsed: Route = {
  ...facts,
  path: "/parsed",
  handle: ({ body }) => Promise.resolve({ body: { length: (body["a"] as string).length } }),
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ routes: [pieces, parsed] });
});
afterAll(() => app.close());

/** A text whose bytes differ by position. */
const textOf = (length: number): string =>
  Array.from({ length }, (_, i) => String.fromCharCode(33 + (i % 89))).join("");

const chunked = (text: string, chunkBytes: number): string => {
  let body = "";
  for (let at = 0; at < text.length; at += chunkBytes) {
    const chunk = text.slice(at, at + chunkBytes);
    body += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  return `${body}0\r\n\r\n`;
};
const headOf = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;

test("chunks of one byte are joined before they are read", async () => {
  const answer = parseAnswer(await rawRequest(app.port, headOf("/pieces") + chunked(textOf(8000), 1)));
  const { lengths, ...rest } = answer.body as { lengths: number[] };
  expect([answer.status, rest]).toEqual([200, { isRight: true, length: 8000 }]);
  expect(lengths.length).toBeLessThanOrEqual(3);
});

test.each([
  ["many chunks of 20 bytes", 300_000, 20],
  ["chunks just too small to be passed on alone", 400_000, 4095],
  ["large chunks", 1_000_000, 100_000],
])("%s arrive whole and in order", async (_, length, chunkBytes) => {
  const answer = parseAnswer(await rawRequest(app.port, headOf("/pieces") + chunked(textOf(length), chunkBytes)));
  expect([answer.status, answer.body]).toMatchObject([200, { isRight: true, length }]);
});

test("small chunks between large ones keep their order", async () => {
  const text = textOf(200_000);
  const body =
    chunked(text.slice(0, 70_000), 70_000).slice(0, -5) + chunked(text.slice(70_000, 70_100), 1).slice(0, -5);
  const rest = chunked(text.slice(70_100), 30_000);
  const answer = parseAnswer(await rawRequest(app.port, headOf("/pieces") + body + rest));
  expect([answer.status, answer.body]).toMatchObject([200, { isRight: true, length: 200_000 }]);
});

test("a JSON body in small chunks is read", async () => {
  const body = JSON.stringify({ a: "x".repeat(8000) });
  const answer = parseAnswer(await rawRequest(app.port, headOf("/parsed") + chunked(body, 3)));
  expect([answer.status, answer.body]).toEqual([200, { length: 8000 }]);
});

test.each(["/pieces", "/parsed", "/nope"])("a body of too many small chunks is refused: %s", async (path) => {
  const answer = await rawRequest(app.port, headOf(path) + chunked(textOf(400_000), 1)).catch((error: Error) => error);
  // The server does not wait for a body that no route wants.
  if (path === "/nope") expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  else
    expect(parseAnswer(String(answer))).toMatchObject({
      status: 400,
      body: { error: "the body arrives in too many small chunks", code: "bad_request" },
    });
});

test("a request behind a body in small chunks is answered", async () => {
  const first = headOf("/pieces").replace("Connection: close\r\n", "") + chunked(textOf(5000), 1);
  const socket = connect(app.port, "127.0.0.1");
  const answers = await new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (data) => (text += data.toString())).on("close", () => resolve(text));
    socket.write(first + headOf("/parsed") + chunked('{"a":"bc"}', 1));
  });
  expect(answers).toMatch(/"length":5000[^]*HTTP\/1\.1 200 [^]*"length":2\}$/);
});
