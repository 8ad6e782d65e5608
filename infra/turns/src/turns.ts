import { monitorEventLoopDelay } from "node:perf_hooks";
import { deadlineExceeded } from "@tidemark/deadline";
import { AppError } from "@tidemark/errors";
import { lateness } from "./lateness.rules.ts";
import { createQueues } from "./queues.rules.ts";

/** A request that is served. `end` must be called when its work has ended; calls after the first do nothing. */
export type Turn = { readonly end: () => void };

/** A request that waits for its turn. */
export type Waiting = {
  /** @throws deadline_exceeded when the time is over, service_unavailable for a request that was withdrawn */
  readonly turn: Promise<Turn>;
  /** Gives up, because nobody waits for the answer any more. */
  readonly withdraw: () => void;
};

/** Who may be served by a process beside others. */
export type Turns = {
  /**
   * Begins the turn of a request, at once unless its organization has as many in this lane as the others leave it. While one organization alone asks, that is always.
   * @throws service_unavailable when too many of them wait
   */
  readonly begin: (org: string, lane: string, deadlineMs: number) => Turn | Waiting;
  /** How many requests wait. */
  readonly waiting: () => number;
  readonly close: () => void;
};

/** How often the caps are set, in milliseconds. */
const JUDGE_MS = 100;

/** How finely the delay of the event loop is measured, in milliseconds. */
const RESOLUTION_MS = 10;

/** `admit` is set before anyone may call it. */
type Waiter = { admit: (() => void) | undefined };

/**
 * Shares the event loop of this process among organizations. The loop has no turns of its own: what a request waits is everything that is served beside
 * it, so one organization with hundreds of large requests slows all others down. While the loop is late, the organization of which most is served gets fewer
 * requests served at a time, and the others of it wait here.
 */
export function createTurns(): Turns {
  const queues = createQueues<Waiter>();
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const admitAll = (admitted: readonly Waiter[]): void => {
    for (const { admit } of admitted) admit?.();
  };
  const timer = setInterval(() => {
    const lateMs = lateness({ mean: delays.mean / 1e6, deviation: delays.stddev / 1e6 }, RESOLUTION_MS);
    delays.reset();
    admitAll(queues.judge(lateMs, performance.now()));
  }, JUDGE_MS);
  timer.unref();

  const turnOf = (org: string, lane: string): Turn => {
    let isOver = false;
    return {
      end: () => {
        if (isOver) return;
        isOver = true;
        admitAll(queues.leave(org, lane));
      },
    };
  };

  return {
    begin(org, lane, deadlineMs) {
      const waiter: Waiter = { admit: undefined };
      const entered = queues.enter(org, lane, waiter, performance.now());
      if (entered === "in") return turnOf(org, lane);
      if (entered === "refused") throw busy();
      const { promise, resolve, reject } = Promise.withResolvers<Turn>();
      const giveUp = (why: AppError): void => {
        if (!queues.withdraw(org, lane, waiter)) return;
        clearTimeout(timeout);
        reject(why);
      };
      const timeout = setTimeout(() => giveUp(deadlineExceeded()), Math.max(0, deadlineMs - Date.now()));
      waiter.admit = () => {
        clearTimeout(timeout);
        resolve(turnOf(org, lane));
      };
      return { turn: promise, withdraw: () => giveUp(busy()) };
    },
    waiting: () => queues.waiting(),
    close: () => {
      clearInterval(timer);
      delays.disable();
    },
  };
}

function busy(): AppError {
  return new AppError("service_unavailable", "too many requests of this organization wait; try again", {
    retryAfterSeconds: 1,
  });
}
