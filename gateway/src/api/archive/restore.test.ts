import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { createCall } from "@tidemark/rpc";
import { until } from "@tidemark/testkit";
import type { Clients } from "../../clients.ts";
import type { RouteInput, RouteReply, HandlerContext } from "../../route.ts";
import { handleRestore } from "./routes.ts";

const opened: { close: () => void }[] = [];
afterEach(() => {
  for (const { close } of opened.splice(0)) close();
});

/** Sends a compressed body to the handler. `put` is called with the number of each piece. */
async function send(body: Buffer, put: (number: number, client: Socket) => Promise<void> | void) {
  const call = createCall();
  let handling: Promise<RouteReply> | undefined;
  const restore = {
    beginArchive: async () => ({ archiveId: "a", isRestored: false }),
    putPiece: async ({ number }: { number: number }) => {
      await put(number, client);
      return { lines: 1 };
    },
    awaitArchive: async () => ({ answerJson: Buffer.from("{}") }),
  };
  const server = createServer((request: IncomingMessage) => {
    const context = { request, reserveMemory: () => {}, newCall: async () => call } as unknown as HandlerContext;
    handling = handleRestore({} as RouteInput, { restore } as unknown as Clients, call, context);
    handling.catch(() => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  opened.push({
    close: () => {
      client.destroy();
      server.close();
    },
  });
  client.on("error", () => {});
  client.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`);
  client.write(body);
  await until("the request", () => handling !== undefined);
  return handling!;
}

const MIN = RESTORE_LIMITS.pieceBytesMin;
/** Returns this many mebibytes of lines of spaces, which compress to a thousandth of that. */
const spaces = (mebibytes: number): Buffer => gzipSync(`${" ".repeat(MIN - 1)}\n`.repeat(mebibytes));

describe("a small body that becomes a large one", () => {
  test("is read to its end while its client waits", async () => {
    const numbers: number[] = [];
    await send(spaces(5), (number) => void numbers.push(number));
    expect(numbers).toEqual([0, 1, 2, 3, 4]);
  });

  test("is not read any further when its client has left", async () => {
    const numbers: number[] = [];
    const handling = send(spaces(12), async (number, client) => {
      numbers.push(number);
      if (number !== 1) return;
      client.destroy();
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    await expect(handling).rejects.toMatchObject({ reason: "bad_request" });
    expect(numbers).toEqual([0, 1]);
  });

  test("is refused when that is too large for its size", async () => {
    let last = 0;
    const handling = send(spaces(64), (number) => void (last = number));
    await expect(handling).rejects.toMatchObject({
      reason: "bad_request",
      message: expect.stringContaining("256 times"),
    });
    expect(last).toBeLessThan(40);
  });
});
