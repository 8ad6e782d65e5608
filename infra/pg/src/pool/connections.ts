import { createFairShare, currentDeadlineMs, deadlineExceeded, type Use } from "@tidemark/work";
import { AppError } from "@tidemark/errors";
import type pg from "pg";
import { measureLateness } from "./lateness.rules.ts";

/** A connection that is taken. */
export type Taken = {
  readonly client: pg.PoolClient;
  /** Gives it back; a broken one is closed. Must be called once. */
  readonly release: (broken?: Error) => void;
};

/** The connections of a pool. Organizations share them fairly. */
export type Connections = {
  /**
   * Takes a connection for a party. A request that finds none free waits, as long as the pool's time for that and the request's deadline last.
   * @throws warehouse_unavailable, deadline_exceeded, and what the driver reports
   */
  take(party: string, use?: Use): Promise<Taken>;
  /** Notes how long the beginning of a transaction took, in milliseconds, which shows how late the database is. */
  readonly began: (ms: number) => void;
  /** The number of waiting requests. */
  readonly waiting: () => number;
};

/** How often the organization with the most connections is bounded more or less, in milliseconds. */
const JUDGE_MS = 100;

/**
 * Milliseconds that a request with a deadline may wait for its turn: for a request behind others of its organization, being late is better than being
 * retried.
 */
const TURN_WAIT_MS = 5000;

/** `admit` is set before anyone may call it. */
type Waiter = { admit: (() => void) | undefined };

/** Shares out the connections of a pool of `connections`; a request waits at most `waitMs` for one, and for its turn longer if it has a deadline. */
export function shareConnections(pool: pg.Pool, connections: number, waitMs: number): Connections {
  const share = createFairShare<Waiter>(connections);

  const lateness = measureLateness();
  let judgedMs = 0;

  const admitAll = (admitted: readonly Waiter[]): void => {
    for (const { admit } of admitted) admit?.();
  };

  const leave = (party: string, use: Use): void => {
    const nowMs = Date.now();
    admitAll(share.leave(party, nowMs, use));
    if (nowMs - judgedMs < JUDGE_MS) return;
    judgedMs = nowMs;
    const lateMs = lateness.take();
    if (lateMs !== undefined) admitAll(share.adjustLimits(lateMs, nowMs));
  };

  const admission = (party: string, use: Use, nowMs: number, deadlineMs: number): Promise<void> | undefined => {
    const waiter: Waiter = { admit: undefined };
    const entered = share.enter(party, waiter, nowMs, use);
    if (entered === "in") return undefined;
    if (entered === "refused") throw noConnection();
    const turn = Promise.withResolvers<void>();
    waiter.admit = turn.resolve;
    const mostMs = deadlineMs === Number.POSITIVE_INFINITY ? waitMs : Math.max(waitMs, TURN_WAIT_MS);
    const isDeadline = deadlineMs - nowMs < mostMs;
    const timer = setTimeout(
      () => {
        if (share.withdraw(party, waiter)) turn.reject(isDeadline ? deadlineExceeded() : noConnection());
      },
      isDeadline ? deadlineMs - nowMs : mostMs,
    );
    return turn.promise.finally(() => clearTimeout(timer));
  };

  return {
    async take(party, use = "work") {
      const nowMs = Date.now();
      const deadlineMs = currentDeadlineMs() ?? Number.POSITIVE_INFINITY;
      if (deadlineMs <= nowMs) throw deadlineExceeded();
      const turn = admission(party, use, nowMs, deadlineMs);
      if (turn !== undefined) await turn;
      try {
        const client = await pool.connect();
        return {
          client,
          release: (broken) => {
            client.release(broken);
            leave(party, use);
          },
        };
      } catch (error) {
        leave(party, use);
        throw error;
      }
    },
    began: (ms) => lateness.began(ms),
    waiting: () => share.waiting(),
  };
}

function noConnection(): AppError {
  return new AppError("warehouse_unavailable", "the database is busy with other requests; try again", {
    retryAfterSeconds: 1,
  });
}
