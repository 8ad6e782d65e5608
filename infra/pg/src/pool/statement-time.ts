import { currentDeadlineMs, deadlineExceeded } from "@tidemark/work";
import { sqlState } from "../pg-error.ts";

/** How long the statements of a transaction may take: up to their usual limit, and no longer than their request. */
export type StatementTime = {
  /** Follows the SQL that begins the transaction, in the same message. */
  readonly setting: string;
  /**
   * Called before each statement; returns one to be run before it, or undefined. There is one only after a transaction has taken longer than
   * `SLACK_MS`, because the time left is then that much shorter. @throws deadline_exceeded
   */
  next(): string | undefined;
  /** Returns the meaning of an error of the transaction: deadline_exceeded for a statement that ended with the request's time. */
  explain(error: unknown): unknown;
};

/** A statement may run for this long after the caller has stopped waiting, in milliseconds. */
const SLACK_MS = 250;

const UNBOUNDED: StatementTime = { setting: "", next: () => undefined, explain: (error) => error };

/** Bounds the statements of a transaction that begins now. `usualMs` is the limit of the pool, `ownMs` the limit of the transaction in its place. */
export function boundStatements(usualMs: number, ownMs = usualMs): StatementTime {
  const deadlineMs = currentDeadlineMs();
  if (deadlineMs === undefined && ownMs === usualMs) return UNBOUNDED;
  const wanted = (): number => {
    if (deadlineMs === undefined) return ownMs;
    const left = deadlineMs - Date.now();
    if (left <= 0) throw deadlineExceeded();
    return Math.min(ownMs, left);
  };
  let setMs = Math.ceil(wanted());
  return {
    setting: setMs === usualMs ? "" : `; ${settingOf(setMs)}`,
    next() {
      const ms = Math.ceil(wanted());
      if (setMs - ms <= SLACK_MS) return undefined;
      setMs = ms;
      return settingOf(ms);
    },
    explain: (error) => (setMs < ownMs && sqlState(error) === "57014" ? deadlineExceeded() : error),
  };
}

function settingOf(ms: number): string {
  return `SET LOCAL statement_timeout = ${ms}`;
}
