import { Pool, type Dispatcher } from "undici";

/** One request of a load. */
export type Shot = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string | Uint8Array | undefined;
  readonly headers?: Readonly<Record<string, string>>;
};

type SenderOptions = {
  readonly baseUrl: string;
  readonly key: string;
  readonly connections: number;
  /** A new connection for each request instead of kept ones. */
  readonly fresh?: boolean;
};

/** Sends requests over kept connections, as many at a time as there are connections. */
export type Sender = {
  /**
   * The bytes of the answer's body, which are counted as they come and not kept: to make a text of megabytes would be the generator's work.
   * @throws Error with status and the beginning of the answer when it is not an `expected` one (default 200)
   */
  readonly send: (shot: Shot, expected?: number) => Promise<number>;
  /** The text of the answer. @throws Error as above */
  readonly ask: (shot: Shot) => Promise<string>;
  readonly close: () => Promise<void>;
};

/** Opens no connection before the first request. */
export function openSender(options: SenderOptions): Sender {
  const pool = new Pool(options.baseUrl, { connections: options.connections, pipelining: 1 });
  const answerTo = async (shot: Shot, expected: number): Promise<Dispatcher.ResponseData> => {
    const answer = await pool.request({
      method: shot.method,
      path: shot.path,
      ...(shot.body === undefined ? {} : { body: shot.body }),
      headers: {
        authorization: `Bearer ${options.key}`,
        ...(shot.body === undefined ? {} : { "content-type": "application/json" }),
        ...shot.headers,
      },
      reset: options.fresh === true,
    });
    if (answer.statusCode === expected) return answer;
    throw new Error(`${answer.statusCode} ${(await answer.body.text()).slice(0, 200)}`);
  };
  return {
    async send(shot, expected = 200) {
      const { body } = await answerTo(shot, expected);
      let bytes = 0;
      for await (const chunk of body) bytes += (chunk as Buffer).length;
      return bytes;
    },
    ask: async (shot) => (await answerTo(shot, 200)).body.text(),
    close: () => pool.close(),
  };
}

/** Lets something be done with a sender, and closes it. */
export async function withSender<T>(options: SenderOptions, use: (sender: Sender) => Promise<T>): Promise<T> {
  const sender = openSender(options);
  try {
    return await use(sender);
  } finally {
    await sender.close();
  }
}
