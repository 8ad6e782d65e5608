import { EventEmitter, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { LEAST_BYTES_PER_SECOND } from "./arrival.ts";
import { requireTaking } from "./read-pace.ts";

const WINDOW_MS = 600;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An answer that sends a given number of bytes in each window, as far as the rule can see it. */
function answer(bytesPerWindow: number, waiting: number) {
  const socket = { bytesWritten: waiting, writableLength: waiting };
  const raw = Object.assign(new EventEmitter(), {
    socket,
    isCut: false,
    get writableLength() {
      return socket.writableLength;
    },
    destroy() {
      raw.isCut = true;
      raw.emit("close");
    },
  });
  const ticks = 60;
  const timer = setInterval(() => (socket.bytesWritten += bytesPerWindow / ticks), WINDOW_MS / ticks);
  raw.once("close", () => clearInterval(timer));
  requireTaking(raw as unknown as ServerResponse, WINDOW_MS);
  return raw;
}

describe("a client whose bytes always move", () => {
  const least = (LEAST_BYTES_PER_SECOND * WINDOW_MS) / 1000;

  test("is cut below the pace, and not above it", async () => {
    const [slow, fast] = [answer(least / 3, 1000), answer(least * 3, 1000)];
    await until("the slow one is cut", () => slow.isCut);
    await pause(WINDOW_MS);
    expect(fast.isCut).toBe(false);
    fast.emit("close");
  });

  test("is not cut while nothing waits for it", async () => {
    const idle = answer(0, 0);
    await pause(3 * WINDOW_MS);
    expect(idle.isCut).toBe(false);
    idle.emit("close");
  });
});

describe("over a connection", () => {
  const SIZE = 48 * 1024 * 1024;
  const PIECE = Buffer.alloc(64 * 1024);
  let isCut = false;
  const server = createServer((_, response) => {
    isCut = false;
    requireTaking(response, WINDOW_MS);
    response.once("close", () => (isCut = !response.writableFinished));
    pipeline(Readable.from(Array.from({ length: SIZE / PIECE.length }, () => PIECE)), response).catch(() => undefined);
  });
  let port = 0;
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as { port: number });
  });
  afterAll(() => void server.close());
  const ask = () => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("error", () => undefined);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    return socket;
  };

  test("a client that stops is cut", async () => {
    const socket = ask().pause();
    await until("it is cut", () => isCut);
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });

  test("a client that reads has all of it", async () => {
    const socket = ask();
    let read = 0;
    socket.on("data", (bytes: Buffer) => (read += bytes.length));
    await once(socket, "close");
    expect(read).toBeGreaterThan(SIZE);
  });
});
