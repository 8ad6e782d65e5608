import { adjustLimits, type Load } from "./caps.rules.ts";

/** Waiting requests of one party; further ones are refused. */
export const WAITING_MAX = 1000;

/** A process counts as shared for this long after requests of two organizations arrived, in milliseconds. */
export const SHARED_MS = 10_000;

/** The requests that a process serves and those that wait, by party. */
export type Queues<Waiter> = {
  /** Asks to be served: `in` is now, `waiting` later, from `leave` or `judge`; `refused` will not, because its party has too many waiting. */
  enter(org: string, lane: string, waiter: Waiter, nowMs: number): "in" | "waiting" | "refused";
  /** Ends a request that was in. Returns the waiters that are in now. */
  leave(org: string, lane: string): readonly Waiter[];
  /** Takes back a waiting request. Returns false if it does not wait. */
  withdraw(org: string, lane: string, waiter: Waiter): boolean;
  /** Judges how late the event loop is (`caps.rules.ts`). Returns the waiters that are in now. */
  judge(lateMs: number, nowMs: number): readonly Waiter[];
  /** The number of waiting requests. */
  waiting(): number;
  /** The number of parties that are served, wait, or have a cap. */
  parties(): number;
};

type Party<Waiter> = Load & { readonly waiting: Set<Waiter> };

/**
 * Makes the queues of a process. A party is an organization in a lane; its requests are served in order. Lanes separate requests that must not wait for each
 * other: a slow read does not delay a write, nor does a call that a request makes delay the request.
 */
export function createQueues<Waiter>(): Queues<Waiter> {
  const parties = new Map<string, Party<Waiter>>();
  let waiting = 0;
  let lastOrg: string | undefined;
  let sharedUntilMs = Number.NEGATIVE_INFINITY;

  const note = (org: string, nowMs: number): void => {
    if (org === lastOrg) return;
    if (lastOrg !== undefined) sharedUntilMs = nowMs + SHARED_MS;
    lastOrg = org;
  };

  const admit = (party: Party<Waiter>, admitted: Waiter[]): void => {
    for (const waiter of party.waiting) {
      if (party.held >= party.cap) return;
      party.waiting.delete(waiter);
      waiting -= 1;
      party.held += 1;
      admitted.push(waiter);
    }
  };

  const forgetIdle = (name: string, { held, waiting: queue, cap }: Party<Waiter>): void => {
    if (held === 0 && queue.size === 0 && cap === Number.POSITIVE_INFINITY) parties.delete(name);
  };

  return {
    enter(org, lane, waiter, nowMs) {
      note(org, nowMs);
      const name = lane + org;
      let party = parties.get(name);
      if (party === undefined)
        parties.set(name, (party = { held: 0, load: 0, cap: Number.POSITIVE_INFINITY, waiting: new Set() }));
      if (party.held < party.cap && party.waiting.size === 0) {
        party.held += 1;
        return "in";
      }
      if (party.waiting.size >= WAITING_MAX) return "refused";
      party.waiting.add(waiter);
      waiting += 1;
      return "waiting";
    },
    leave(org, lane) {
      const name = lane + org;
      const party = parties.get(name);
      if (party === undefined || party.held === 0) throw new Error("a request ended that was not served");
      party.held -= 1;
      const admitted: Waiter[] = [];
      admit(party, admitted);
      forgetIdle(name, party);
      return admitted;
    },
    withdraw(org, lane, waiter) {
      const name = lane + org;
      const party = parties.get(name);
      if (party === undefined || !party.waiting.delete(waiter)) return false;
      waiting -= 1;
      forgetIdle(name, party);
      return true;
    },
    judge(lateMs, nowMs) {
      adjustLimits(parties.values(), lateMs, nowMs < sharedUntilMs);
      const admitted: Waiter[] = [];
      for (const [name, party] of parties) {
        admit(party, admitted);
        forgetIdle(name, party);
      }
      return admitted;
    },
    waiting: () => waiting,
    parties: () => parties.size,
  };
}
