import { deadlineExceeded } from "../deadline/deadline.ts";
import { AppError } from "@tidemark/errors";
import { lateness } from "./caps.rules.ts";
import { createQueues } from "./queues.rules.ts";

/** A request that is served. `end` must be called when its work has ended; calls after the first do nothing. */
export type Turn = { readonly end: () => void };

/** A request that waits for its turn. */
export type Waiting = {
  /** @throws deadline_exceeded when the time is over, service_unavailable for a request that was withdrawn */
  readonly turn: Promise<Turn>;
  /** Gives up, because no caller waits for the answer any more. */
  readonly withdraw: () => void;
};

/** Decides which requests a process serves at the same time. */
export type Turns = {
  /**
   * Begins the turn of a request, immediately unless its organization has as many in this lane as the others leave it. An organization alone always starts
   * immediately.
   * @throws service_unavailable when too many of them wait
   */
  readonly begin: (org: string, lane: string, deadlineMs: number) => Turn | Waiting;
  /** The number of waiting requests. */
  readonly waiting: () => number;
  readonly close: () => void;
};

/** How often the caps are set, in milliseconds. */
const JUDGE_MS = 100;

/** The tick, in milliseconds, of the clock whose delays measure the lateness of the event loop. */
const RESOLUTION_MS = 10;

/** `admit` is set before anyone may call it. */
type Waiter = { admit: (() => void) | undefined };

/**
 * Shares the event loop of this process among organizations. The loop has no turns of its own: a request waits for everything that is served next to
 * it, so one organization with hundreds of large requests slows all others down. While the loop is late, the organization with the most served requests gets
 * fewer requests served at a time, and its other requests wait here.
 */
export function createTurns(): Turns {
  const queues = createQueues<Waiter>();
  const admitAll = (admitted: readonly Waiter[]): void => {
    for (const { admit } of admitted) admit?.();
  };
  const clock = createClock((lateMs, nowMs) => {
    admitAll(queues.judge(lateMs, nowMs));
    return queues.parties() > 0;
  });

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
      clock.start();
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
    close: () => clock.stop(),
  };
}

/**
 * Makes a clock that reports how late the event loop is every tenth of a second, from its start until `judge` returns false: there is no measuring while no
 * request is served. A timer of its own in place of Node's histogram of delays, whose deviation takes 2 ms to compute.
 */
function createClock(judge: (lateMs: number, nowMs: number) => boolean): { start: () => void; stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let [tickedAt, judgedAt, sum, squares] = [0, 0, 0, 0];
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const tick = (): void => {
    const nowMs = performance.now();
    const interval = nowMs - tickedAt;
    sum += interval;
    squares += interval * interval;
    tickedAt = nowMs;
    if (nowMs - judgedAt < JUDGE_MS) return;
    judgedAt = nowMs;
    const lateMs = lateness({ sum, squares }, RESOLUTION_MS);
    [sum, squares] = [0, 0];
    if (!judge(lateMs, nowMs)) stop();
  };
  return {
    start() {
      if (timer !== undefined) return;
      tickedAt = judgedAt = performance.now();
      [sum, squares] = [0, 0];
      timer = setInterval(tick, RESOLUTION_MS).unref();
    },
    stop,
  };
}

/** The refusal of a request whose organization has too many waiting already, or that is withdrawn. */
export function busy(): AppError {
  return new AppError("service_unavailable", "too many requests of this organization wait; try again", {
    retryAfterSeconds: 1,
  });
}
