import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { startApp, type TestApp } from "../app.fixture.ts";
import { parseAnswer } from "../http/raw-request.fixture.ts";
import { echoRoutes, workRoute } from "./echo-routes.fixture.ts";

// What clients see that send a whole body before they read the answer, like Python's urllib, which the published SDK uses.

let app: TestApp;
let authorization: string;
beforeAll(async () => {
  const limited = workRoute(() => Promise.reject(new AppError("rate_limit_exceeded", "too many")), {
    method: "POST",
    path: "/limited",
    callers: { kind: "credentials", key: { scopes: [] }, session: { refused: 403 } },
    streamed: "bytes",
    body: "required",
  });
  app = await startApp({ routes: [...echoRoutes, limited] });
  authorization = `Authorization: Bearer ${app.addKey(["sdk:ingest"])}\r\n`;
});
afterAll(() => app.close());

const FIVE_MB = 5_000_000;

/** Sends a request, its whole body, and only then reads. Returns the answer. @throws the error of the connection */
async function send(head: string, bodyBytes: number, port = app.port): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const closed = once(socket, "close");
  const failed = new Promise<never>((_resolve, reject) => socket.on("error", reject));
  for (const promise of [closed, failed]) promise.catch(() => undefined);
  socket.pause();
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`);
  const piece = Buffer.alloc(100_000, "x");
  for (let sent = 0; sent < bodyBytes; sent += piece.length) {
    if (!socket.write(piece.subarray(0, Math.min(piece.length, bodyBytes - sent))))
      await Promise.race([once(socket, "drain"), failed]);
  }
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString())).resume();
  await Promise.race([closed, failed]);
  return answer;
}

const refusals: readonly (readonly [number, string, () => string])[] = [
  [401, "POST /echo/1", () => "Authorization: Bearer tm_unknown\r\n"],
  [403, "DELETE /session-only", () => `Cookie: tidemark_session=${app.addSession("owner")}\r\n`],
  [404, "POST /nowhere", () => authorization],
  [405, "PUT /echo/1", () => authorization],
  [413, "POST /echo/1", () => authorization],
  [429, "POST /limited", () => authorization],
];

describe.each([
  ["Connection: close", "HTTP/1.1", "Host: x\r\nConnection: close\r\n"],
  ["HTTP/1.0", "HTTP/1.0", ""],
])("with %s", (_, version, headers) => {
  test.each(refusals)("%i is read by who has sent 5 MB", async (status, line, credentials) => {
    const answer = await send(`${line} ${version}\r\n${headers}${credentials()}`, FIVE_MB);
    expect(parseAnswer(answer).status).toBe(status);
  });

  test("401 is read by who has sent 900 KB without credentials", async () => {
    expect(parseAnswer(await send(`POST /echo/1 ${version}\r\n${headers}`, 900_000)).status).toBe(401);
  });

  test("a route without a body answers who has sent one", async () => {
    const answer = await send(`POST /bodyless ${version}\r\n${headers}${authorization}`, FIVE_MB);
    expect(parseAnswer(answer).status).toBe(200);
  });
});

test("without credentials no more than a megabyte is read", async () => {
  const accepted = once(app.server, "connection");
  const sent = send("POST /echo/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", 2_000_000_000);
  await sent.catch(() => undefined);
  const [socket] = (await accepted) as [Socket];
  // Bytes that arrive between two checks are added, and are far from all.
  expect(socket.bytesRead).toBeGreaterThan(1_000_000);
  expect(socket.bytesRead).toBeLessThan(1_000_000_000);
});

test("a client that stops in the middle of a refused body is closed after five seconds", async () => {
  const socket = connect({ port: app.port, host: "127.0.0.1", allowHalfOpen: true });
  const startedMs = performance.now();
  socket.write(`POST /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000\r\n\r\nx`);
  socket.on("error", () => undefined).resume();
  await once(socket, "end");
  // It would write forever.
  const timer = setInterval(() => socket.write(""), 20);
  const endMs = performance.now() + 10_000;
  while (performance.now() < endMs && (await connections()) > 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
  clearInterval(timer);
  socket.destroy();
  expect([await connections(), performance.now() - startedMs > 4000]).toEqual([0, true]);
});

const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );

describe("Expect: 100-continue", () => {
  const head = (line: string, credentials: string): string =>
    `${line} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${credentials}Content-Type: application/json\r\n`;

  /** Sends a head and returns what is received before the body is sent. */
  async function ask(text: string): Promise<{ first: string; socket: Socket }> {
    const socket = connect(app.port, "127.0.0.1");
    socket.write(text);
    const [chunk] = (await once(socket, "data")) as [Buffer];
    return { first: chunk.toString(), socket };
  }

  test("a client that may send is told to continue", async () => {
    const { first, socket } = await ask(`${head("POST /echo/1", authorization)}Content-Length: 7\r\n\r\n`);
    expect(first).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write('{"a":1}');
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(parseAnswer(answer.toString())).toMatchObject({ status: 200, body: { body: { a: 1 } } });
    socket.destroy();
  });

  test.each([
    [401, "POST /echo/1", () => ""],
    [404, "POST /nowhere", () => authorization],
    [413, "POST /echo/1", () => authorization],
    [429, "POST /limited", () => authorization],
  ])("%i is sent before the body is read, and ends the connection", async (status, line, credentials) => {
    const { first, socket } = await ask(`${head(line, credentials())}Content-Length: 5000000\r\n\r\n`);
    const answer = parseAnswer(first);
    expect([answer.status, answer.head.includes("connection: close")]).toEqual([status, true]);
    await once(socket, "close");
  });
});
