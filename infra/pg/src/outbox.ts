import { randomUUID } from "node:crypto";
import { startRounds } from "@tidemark/work";
import type { Db, Tx } from "./db.ts";
import { sql } from "./statement.ts";

/** A message to publish after the transaction that wrote it has committed. */
export type OutboxMessage = {
  service: string;
  subject: string;
  payload: Uint8Array;
  headers?: Record<string, string>;
};

/** The message that the relay passes to the bus; `id` identifies a second delivery. */
export type RelayedMessage = { id: string; subject: string; payload: Uint8Array; headers: Record<string, string> };

/** A running relay. */
export type Relay = {
  /** Looks for messages now instead of at the next tick. Call it after a commit that wrote one. */
  wake(): void;
  /** Stops after the current round. */
  stop(): Promise<void>;
};

const insertMessage = sql(
  "platform_insert_outbox",
  `INSERT INTO platform.outbox (org_id, id, service, subject, headers, payload)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);

// Claims by an update, not by row locks: this also works if rows are spread over many servers, and
// the claim of a relay that dies runs out. In the order of the index, so that a claim does not read
// all messages that wait: the oldest first, after them those whose relay died.
const claimMessages = sql(
  "platform_claim_outbox",
  `UPDATE platform.outbox o SET claimed_until = now() + interval '60 seconds'
   FROM (SELECT org_id, id FROM platform.outbox
         WHERE service = $1 AND claimed_until < now()
         ORDER BY claimed_until, created_at LIMIT $2) due
   WHERE o.org_id = due.org_id AND o.id = due.id AND o.claimed_until < now()
   RETURNING o.org_id, o.id, o.subject, o.headers, o.payload,
             extract(epoch FROM now() - o.created_at)::float8 AS age_seconds`,
);

const deleteMessage = sql("platform_delete_outbox", "DELETE FROM platform.outbox WHERE org_id = $1 AND id = $2");

const releaseMessage = sql(
  "platform_release_outbox",
  "UPDATE platform.outbox SET claimed_until = '-infinity' WHERE org_id = $1 AND id = $2",
);

const BATCH = 100;

/** Adds a message to the transaction. It is published only if the transaction commits. */
export async function putOutbox(tx: Tx, orgId: string, message: OutboxMessage): Promise<void> {
  await tx.rows(insertMessage, [
    orgId,
    randomUUID(),
    message.service,
    message.subject,
    JSON.stringify(message.headers ?? {}),
    message.payload,
  ]);
}

type Row = {
  org_id: string;
  id: string;
  subject: string;
  headers: string;
  payload: Uint8Array;
  age_seconds: number;
};

/**
 * Publishes the messages of a service's outbox, at least once each, oldest first; those that a relay had claimed when it
 * died follow the others. `db` runs as the service's worker role. A message that the bus refuses stays and is tried
 * again at the next tick.
 */
export function startRelay(options: {
  db: Db;
  service: string;
  publish: (message: RelayedMessage) => Promise<void>;
  onError: (error: unknown) => void;
  /** Called after each query with the age of the oldest waiting message in seconds, 0 if none waited. */
  onLag?: (seconds: number) => void;
  tickMs?: number;
}): Relay {
  const { db, service, publish, onError } = options;
  const send = async (row: Row): Promise<boolean> => {
    try {
      await publish({
        id: row.id,
        subject: row.subject,
        payload: row.payload,
        headers: JSON.parse(row.headers) as Record<string, string>,
      });
    } catch (error) {
      onError(error);
      await db.rows(releaseMessage, [row.org_id, row.id]);
      return false;
    }
    await db.rows(deleteMessage, [row.org_id, row.id]);
    return true;
  };

  const round = async (isStopped: () => boolean): Promise<void> => {
    for (;;) {
      const rows = await db.rows<Row>(claimMessages, [service, BATCH]);
      options.onLag?.(Math.max(0, ...rows.map((row) => row.age_seconds)));
      let refused = false;
      for (const row of rows) {
        // After one refusal the bus is not reachable: release the rest instead of trying each.
        if (refused) await db.rows(releaseMessage, [row.org_id, row.id]);
        else refused = !(await send(row));
      }
      if (rows.length < BATCH || refused || isStopped()) return;
    }
  };

  const rounds = startRounds({ everyMs: options.tickMs ?? 1000, round, onError });
  return { wake: () => void rounds.begin(), stop: rounds.stop };
}
