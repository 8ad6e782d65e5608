import {
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamClient,
  type JetStreamManager,
} from "@nats-io/jetstream";
import { nanos, type NatsConnection } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { busLimits } from "./limits.ts";

/**
 * One connection to the server, from its handshake to its loss. Nothing outlives it: after a loss there is a new
 * session.
 */
export type NatsSession = {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly stream: string;
};

/**
 * Connects, and makes the stream if the server has none. Throws when either fails, and then leaves nothing behind.
 *
 * The client's own reconnecting is off. It would carry acknowledgements over to the next connection, and a server
 * that lost its state numbers its messages from 1 again: the old acknowledgement would then take another message out
 * of the queue.
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
    // A server that hangs is given up after three unanswered pings.
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

/** Makes the stream if it is missing. One that exists is left as it is: an operator may have given it replicas. */
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
