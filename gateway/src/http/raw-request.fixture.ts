import { connect } from "node:net";

/**
 * Sends bytes as they are to a port of this machine and gives all that comes back until the peer
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
