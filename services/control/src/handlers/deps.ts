import type { ControlService } from "@tidemark/proto/control/v1/control";
import type { Db, Tx } from "@tidemark/pg";
import type { Plans } from "@tidemark/plans";
import type { Handlers } from "@tidemark/rpc";
import type { Mail } from "../mail/mail.ts";
import type { RunDirectory } from "../run-directory.ts";
import { announceChange } from "../store/announce-change.ts";

/** What the handlers work with. Time, ids and randomness come in, so that tests decide them. */
export type ControlDeps = {
  readonly db: Db;
  readonly mail: Mail;
  readonly runs: RunDirectory;
  readonly now: () => Date;
  /** A new random UUID. */
  readonly newId: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Tells the relay that a committed transaction left a message. */
  readonly nudge: () => void;
  readonly settings: {
    /** What the plans include. */
    readonly plans: Plans;
    /** Whether anybody may sign in by address alone. */
    readonly devAuth: boolean;
    /** Whether the number of seats, which is a quota of the plan, is enforced. */
    readonly seatLimits: boolean;
    /** Where the web pages are, without a trailing slash; the address of the request when undefined. */
    readonly webUrl: string | undefined;
  };
};

/** All RPCs of the service. */
export type ControlHandlers = Handlers<(typeof ControlService)["method"]>;

/**
 * One tenant transaction that changes what gateways know: they are woken when it has committed.
 */
export async function changing<T>(deps: ControlDeps, orgId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  const result = await deps.db.withTenant(orgId, async (tx) => {
    const done = await work(tx);
    await announceChange(tx, orgId);
    return done;
  });
  deps.nudge();
  return result;
}

/**
 * Waits for a transaction on runs. When it has committed, its messages leave, and this process knows
 * of it before anybody is told that it happened.
 */
export async function settled<T>(deps: ControlDeps, work: Promise<T>): Promise<T> {
  const result = await work;
  deps.nudge();
  await deps.runs.catchUp();
  return result;
}
