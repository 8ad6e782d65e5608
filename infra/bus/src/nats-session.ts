import {
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  jetstream,
  jetstreamManager,
  type JetStreamClient,
  type JetStreamManager,
} from "@nats-io/jetstream";
import { headers as natsHeaders, nanos, type MsgHdrs, type NatsConnection } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { busLimits, type BusMessage } from "./bus.ts";

/**
 * One connection to the server, from its handshake until it is lost. After that, a new session is opened; nothing is
 * carried over.
 */
export type NatsSession = {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly stream: string;
};

/**
 * Connects, and creates the stream if the server does not have it. If either fails, closes the connection and throws.
 *
 * Reconnecting by the client is switched off, because it would carry acknowledgements over to the next connection. A
 * server that lost its state numbers its messages from 1 again, so an old acknowledgement would remove another message
 * from the queue.
 */
export async function openSession(options: {
  readonly servers: readonly string[];
  readonly stream: string;
  readonly token?: string | undefined;
}): Promise<NatsSession> {
  const nc = await connect({
    servers: [...options.servers],
    ...(options.token !== undefined && { token: options.token }),
    name: "tidemark",
    reconnect: false,
    timeout: 2_000,
    // The connection to a server that hangs ends after three unanswered pings.
    pingInterval: 5_000,
    maxPingOut: 2,
    noAsyncTraces: true,
  });
  try {
    const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 2_000 });
    const session: NatsSession = { nc, jsm, js: jetstream(nc), stream: options.stream };
    await ensureStream(session);
    return session;
  } catch (error) {
    await nc.close();
    throw error;
  }
}

/** Creates the stream if it is missing. An existing stream is not changed: an operator may have given it replicas. */
export async function ensureStream({ jsm, stream }: NatsSession): Promise<void> {
  try {
    await jsm.streams.info(stream);
  } catch (error) {
    if ((error as Error).name !== "StreamNotFoundError") throw error;
    await jsm.streams.add({
      name: stream,
      subjects: ["tidemark.>"],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_age: nanos(busLimits.keepMs),
      duplicate_window: nanos(busLimits.dedupWindowMs),
    });
  }
}

const idHeader = "Nats-Msg-Id";

/** Reads a message of the server, whether it was fetched or received. Omits the server's own headers. */
export function fromNats(
  message: { readonly subject: string; readonly data: Uint8Array; readonly headers?: MsgHdrs | undefined },
  attempt: number,
): BusMessage {
  const headers: Record<string, string> = {};
  for (const name of message.headers?.keys() ?? [])
    if (!/^nats-/i.test(name)) headers[name] = message.headers?.get(name) ?? "";
  return { subject: message.subject, id: message.headers?.get(idHeader) ?? "", data: message.data, headers, attempt };
}

/** Returns the headers of an outgoing message, as a new object each time, because publishing adds to it. */
export function toNatsHeaders(headers: Readonly<Record<string, string>>): MsgHdrs {
  const result = natsHeaders();
  for (const [name, value] of Object.entries(headers)) result.set(name, value);
  return result;
}
