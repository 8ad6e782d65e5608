import { currentDeadlineMs, deadlineExceeded } from "@tidemark/deadline";
import { AppError } from "@tidemark/errors";
import type pg from "pg";
import { createFairShare } from "./fair-share.rules.ts";

/** A connection that is taken. */
export type Taken = {
  readonly client: pg.PoolClient;
  /** Gives it back; one that is broken is closed. Must be called once. */
  readonly release: (broken?: Error) => void;
};

/** The connections of a pool. Organizations share them fairly. */
export type Connections = {
  /**
   * Takes a connection for a party. One that finds none free waits, as long as the pool's time for that and the request's deadline last.
   * @throws warehouse_unavailable, deadline_exceeded, and what the driver reports
   */
  take(party: string): Promise<Taken>;
  /** How many requests wait. */
  readonly waiting: () => number;
};

/** `admit` is set before anyone may call it. */
type Waiter = { admit: (() => void) | undefined };

/** Shares out the connections of a pool of `connections`; a request waits at most `waitMs` for one. */
export function shareConnections(pool: pg.Pool, connections: number, waitMs: number): Connections {
  const share = createFairShare<Waiter>(connections);

  const leave = (party: string): void => {
    for (const { admit } of share.leave(party, Date.now())) admit?.();
  };

  const admission = (party: string, nowMs: number, deadlineMs: number): Promise<void> | undefined => {
    const waiter: Waiter = { admit: undefined };
    const entered = share.enter(party, waiter, nowMs);
    if (entered === "in") return undefined;
    if (entered === "refused") throw noConnection();
    const turn = Promise.withResolvers<void>();
    waiter.admit = turn.resolve;
    const isDeadline = deadlineMs - nowMs < waitMs;
    const timer = setTimeout(
      () => {
        if (share.withdraw(party, waiter)) turn.reject(isDeadline ? deadlineExceeded() : noConnection());
      },
      isDeadline ? deadlineMs - nowMs : waitMs,
    );
    return turn.promise.finally(() => clearTimeout(timer));
  };

  return {
    async take(party) {
      const nowMs = Date.now();
      const deadlineMs = currentDeadlineMs() ?? Number.POSITIVE_INFINITY;
      if (deadlineMs <= nowMs) throw deadlineExceeded();
      const turn = admission(party, nowMs, deadlineMs);
      if (turn !== undefined) await turn;
      try {
        const client = await pool.connect();
        return {
          client,
          release: (broken) => {
            client.release(broken);
            leave(party);
          },
        };
      } catch (error) {
        leave(party);
        throw error;
      }
    },
    waiting: () => share.waiting(),
  };
}

function noConnection(): AppError {
  return new AppError("warehouse_unavailable", "the database is busy with other requests; try again", {
    retryAfterSeconds: 1,
  });
}
