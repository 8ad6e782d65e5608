import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { connect, type Socket } from "node:net";
import { until } from "@tidemark/testkit";
import { startApp, type TestApp } from "../app.fixture.ts";
import type { Route } from "../route.ts";

let served = 0;
let release: () => void = () => undefined;
let gate = Promise.resolve();

const facts = {
  tag: "test",
  summary: "Waits",
  rate: "none",
  idempotency: "none",
  schemas: { response: { type: "object" } },
  statuses: [200],
  callers: { kind: "anyone" },
} as const;

/** Answers with its place when the test says so. */
const wait: Route = {
  ...facts,
  method: "GET",
  path: "/wait/{n}",
  handle: async ({ params }) => {
    served += 1;
    await gate;
    return { body: { n: params["n"]! } };
  },
};

const post: Route = {
  ...facts,
  method: "POST",
  path: "/post",
  body: "required",
  handle: ({ body }) => Promise.resolve({ body: { length: (body["a"] as string).length } }),
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ routes: [wait, post] });
});
afterAll(() => app.close());

const sockets: Socket[] = [];
afterEach(() => {
  release();
  for (const socket of sockets.splice(0)) socket.destroy();
});

function close(): void {
  served = 0;
  gate = new Promise((resolve) => (release = resolve));
}

/** A connection on which a text was sent, and the answer so far. */
function send(text: string): { socket: Socket; answer: () => string } {
  const socket = connect(app.port, "127.0.0.1");
  sockets.push(socket);
  let answer = "";
  socket.on("data", (data: Buffer) => (answer += data.toString()));
  socket.write(text);
  return { socket, answer: () => answer };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const places = (answer: string): number[] => [...answer.matchAll(/"n":"(\d+)"/g)].map(([, n]) => Number(n));
const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test("of many requests on one connection 32 are served at a time, and all are answered in order", async () => {
  close();
  const { answer } = send(
    numbers(500)
      .map((n) => get(`/wait/${n}`))
      .join(""),
  );
  await until("32 requests", () => served === 32);
  const other = send(get("/wait/7"));
  await until("a request of another connection", () => served === 33);
  release();
  await until("all answers", () => places(answer()).length === 500);
  expect(places(answer())).toEqual(numbers(500));
  expect(places(other.answer())).toEqual([7]);
});

test("data that a client sends while its requests wait stays in the socket", async () => {
  close();
  const requests = numbers(8000)
    .map((n) => get(`/wait/${n}`))
    .join("");
  let accepted: Socket | undefined;
  app.server.once("connection", (socket: Socket) => (accepted = socket));
  const { answer } = send(requests);
  await until("32 requests", () => served === 32);
  // Time to read on, had it not stopped.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(accepted!.bytesRead).toBeLessThan(requests.length / 2);
  release();
  await until("all answers", () => places(answer()).length === 8000);
  expect(accepted!.bytesRead).toBe(requests.length);
});

test("bodies of requests that waited are read", async () => {
  close();
  const body = JSON.stringify({ a: "x".repeat(8000) });
  const head = `POST /post HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  const known = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const { answer } = send(
    numbers(40)
      .map((n) => get(`/wait/${n}`))
      .join("") +
      known +
      chunked +
      get("/wait/40"),
  );
  await until("32 requests", () => served === 32);
  release();
  await until("all answers", () => answer().includes('"n":"40"'));
  expect(answer().match(/"length":8000/g)).toHaveLength(2);
});

test("a client that leaves takes its waiting requests along", async () => {
  close();
  const { socket } = send(
    numbers(200)
      .map((n) => get(`/wait/${n}`))
      .join(""),
  );
  await until("32 requests", () => served === 32);
  socket.destroy();
  release();
  const { answer } = send(get("/wait/1"));
  await until("another client's answer", () => places(answer()).length === 1);
  expect(served).toBe(33);
});

test("unknown paths on one connection leave turns to others", async () => {
  const { answer } = send(get("/nope").repeat(2000));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  await until("all answers", () => (answer().match(/HTTP\/1\.1 404 /g) ?? []).length === 2000);
  clearInterval(timer);
  // 2,000 in groups of 8.
  expect(turns).toBeGreaterThan(20);
});
