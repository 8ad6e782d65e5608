import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { Pool } from "undici";

/** One request of a load. */
export type Shot = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string | Uint8Array | undefined;
  /** Sent with its own idempotency key, as the uploader of `instantml` does. */
  readonly keyed?: boolean;
  /** Sent unchanged on its own connection until the server closes it, with the credential in place of `{key}`. */
  readonly raw?: string;
};

/** Where requests go. */
export type Destination = { readonly baseUrl: string; readonly key: string };

/** Sends requests over kept connections, as many simultaneously as there are connections. */
export type Sender = {
  /**
   * Returns the bytes of the answer's body, which are counted on arrival and not kept: making a text of megabytes would cost the load generator.
   * @throws Error with status and the beginning of the answer when the status is not 200
   */
  readonly send: (shot: Shot) => Promise<number>;
  /** Returns the text of the answer. @throws Error as above */
  readonly ask: (shot: Shot) => Promise<string>;
  readonly close: () => Promise<void>;
};

/** Opens no connection before the first request. */
export function openSender({ baseUrl, key }: Destination, connections: number): Sender {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  const answerTo = async ({ method, path, body, keyed = false }: Shot) => {
    const answer = await pool.request({
      method,
      path,
      ...(body === undefined ? {} : { body }),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(keyed ? { "idempotency-key": `instantml-${randomUUID()}` } : {}),
      },
    });
    if (answer.statusCode === 200) return answer.body;
    throw new Error(`${answer.statusCode} ${(await answer.body.text()).slice(0, 200)}`);
  };
  return {
    async send(shot) {
      if (shot.raw !== undefined) return sendRaw(new URL(baseUrl), shot.raw.replaceAll("{key}", key));
      let bytes = 0;
      for await (const chunk of await answerTo(shot)) bytes += (chunk as Buffer).length;
      return bytes;
    },
    ask: async (shot) => (await answerTo(shot)).text(),
    close: () => pool.close(),
  };
}

/** Writes a text on a new connection, and returns how many bytes it received until it was closed. */
function sendRaw({ hostname, port }: URL, text: string): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0;
    const socket = connect(Number(port), hostname);
    socket
      .on("data", (data) => (bytes += data.length))
      // Refused while it was still sending.
      .on("error", () => undefined)
      .on("close", () => resolve(bytes));
    socket.write(text);
  });
}

/** Lets something be done with a sender, and closes it. */
export async function withSender<T>(
  destination: Destination,
  connections: number,
  use: (sender: Sender) => Promise<T>,
): Promise<T> {
  const sender = openSender(destination, connections);
  try {
    return await use(sender);
  } finally {
    await sender.close();
  }
}
