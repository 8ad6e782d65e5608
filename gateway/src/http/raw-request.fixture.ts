import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { until } from "@tidemark/testkit";

/**
 * Sends bytes unchanged to a port of this machine and returns everything received until the peer
 * closes. `parts` are written one after another.
 */
export function rawRequest(port: number, ...parts: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("utf8")));
    for (const part of parts) socket.write(part);
  });
}

/** Status and JSON body of a raw answer. */
export function parseAnswer(answer: string): { status: number; head: string; body: unknown } {
  const end = answer.indexOf("\r\n\r\n");
  const head = answer.slice(0, end);
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body: JSON.parse(answer.slice(end + 4)) };
}

/** A request whose end the client holds back. */
export type HeldRequest = {
  readonly socket: Socket;
  /** The bytes received so far. */
  readonly answer: () => string;
  /** Sends the end, and returns everything received until the connection closes. */
  readonly finish: () => Promise<string>;
};

/** Sends a request in ASCII without its last `heldBytes`, and waits until the server has what was sent. No other connection may begin meanwhile. */
export async function holdRequest(
  { server, port }: { readonly server: Server; readonly port: number },
  request: string,
  heldBytes: number,
): Promise<HeldRequest> {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  const closed = once(socket, "close");
  const [accepted] = (await once(server, "connection")) as [Socket];
  const sentBytes = request.length - heldBytes;
  socket.write(request.slice(0, sentBytes));
  await until("the beginning of a request", () => accepted.bytesRead === sentBytes);
  return {
    socket,
    answer: () => answer,
    async finish() {
      socket.write(request.slice(sentBytes));
      await closed;
      return answer;
    },
  };
}
