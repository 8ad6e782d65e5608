import { busy, createFairShare, deadlineExceeded, NO_TENANT } from "@tidemark/work";
import type { Call } from "./call.ts";

/** `admit` is set before anyone may call it. */
type Waiter = { admit: (() => void) | undefined };

/** Decides which calls get the connections to a peer. */
export type CallSlots = {
  /**
   * Does `work` once its organization may have a connection, at the latest when `signal` says that the time of the call is over.
   * @throws service_unavailable when too many calls of the organization wait, deadline_exceeded
   */
  readonly use: <T>(call: Pick<Call, "identity">, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;
};

/**
 * Shares out the connections to a peer among organizations. Calls of an organization that requests hundreds of large answers hold their connections while
 * waiting for their turn in the peer, and in order of arrival all other organizations would wait behind them.
 */
export function createCallSlots(connections: number): CallSlots {
  const share = createFairShare<Waiter>(connections);
  const wait = (party: string, waiter: Waiter, signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      if (share.withdraw(party, waiter)) reject(deadlineExceeded());
    };
    waiter.admit = () => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    signal.addEventListener("abort", giveUp, { once: true });
    return promise;
  };
  return {
    async use({ identity }, signal, work) {
      if (signal.aborted) throw deadlineExceeded();
      const party = identity?.orgId ?? NO_TENANT;
      const waiter: Waiter = { admit: undefined };
      const entered = share.enter(party, waiter, Date.now());
      if (entered === "refused") throw busy();
      if (entered === "waiting") await wait(party, waiter, signal);
      try {
        return await work();
      } finally {
        for (const { admit } of share.leave(party, Date.now())) admit?.();
      }
    },
  };
}
