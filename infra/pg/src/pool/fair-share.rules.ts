/** The connections of a pool, shared by parties: organizations, and what belongs to none. */
export type FairShare<Waiter> = {
  /** Asks for a connection: `in` has one, `waiting` gets one later from `leave`, `refused` will not, because its party has too many waiting. */
  enter(party: string, waiter: Waiter, nowMs: number): "in" | "waiting" | "refused";
  /** Gives a connection of a party back. Returns who has one now: parties take turns, and those of a party come in their order. */
  leave(party: string, nowMs: number): readonly Waiter[];
  /** Takes back a request that waits. Returns false if it does not wait. */
  withdraw(party: string, waiter: Waiter): boolean;
  /** How many wait. */
  waiting(): number;
};

/** The party of what belongs to no organization. */
export const NOBODY = "";

/** What a party may hold of a pool. */
export type Shares = {
  /** While it is the only organization. */
  readonly alone: number;
  /** Beside others. */
  readonly beside: number;
  /** Connections that must stay free when it takes one more than its first. */
  readonly reserve: number;
};

/** For so long after two organizations had a connection the pool counts as shared, in milliseconds. */
export const SHARED_MS = 10_000;

/** Connections of the smallest pool with shares. */
const SHARED_MIN = 4;

/** Waiting requests of one party, for each connection of the pool. */
const WAITING_PER_CONNECTION = 200;

/**
 * Returns the shares of a pool. A fifth of it, at least one connection, is for the first request of whoever has none; an organization takes all
 * others while it is alone, and at most half of the pool beside others. Pools of fewer than four connections, which background work has, have turns
 * but no shares: half of them would be a single connection, and two transactions of one organization could never run at a time.
 */
export function sharesOf(connections: number): Shares {
  if (connections < SHARED_MIN) return { alone: connections, beside: connections, reserve: 0 };
  const reserve = Math.max(1, Math.floor(connections / 5));
  return { alone: connections - reserve, beside: Math.floor(connections / 2), reserve };
}

type Party<Waiter> = { held: number; readonly waiting: Set<Waiter> };

/** Shares out `connections`, none of which is taken. A waiter must not wait twice at a time. */
export function createFairShare<Waiter>(connections: number): FairShare<Waiter> {
  const { alone, beside, reserve } = sharesOf(connections);
  const parties = new Map<string, Party<Waiter>>();
  /** Those with waiting requests, in the order of their turns. */
  const turns = new Map<string, Party<Waiter>>();
  let free = connections;
  let waiting = 0;
  let lastOrg = NOBODY;
  let sharedUntilMs = Number.NEGATIVE_INFINITY;

  const mayTake = ({ held }: Party<Waiter>, nowMs: number): boolean =>
    held === 0 ? free > 0 : free > reserve && held < (nowMs < sharedUntilMs ? beside : alone);

  const take = (party: Party<Waiter>): void => {
    party.held += 1;
    free -= 1;
  };

  const note = (name: string, nowMs: number): void => {
    if (name === lastOrg || name === NOBODY) return;
    if (lastOrg !== NOBODY) sharedUntilMs = nowMs + SHARED_MS;
    lastOrg = name;
  };

  const forgetIdle = (name: string, party: Party<Waiter>): void => {
    if (party.held === 0 && party.waiting.size === 0) parties.delete(name);
  };

  /** Lets the next one in whose party may take a connection. */
  const admitOne = (nowMs: number): Waiter | undefined => {
    if (free === 0) return undefined;
    for (const [name, party] of turns) {
      if (!mayTake(party, nowMs)) continue;
      const [first] = party.waiting;
      party.waiting.delete(first!);
      waiting -= 1;
      turns.delete(name);
      if (party.waiting.size > 0) turns.set(name, party);
      take(party);
      return first;
    }
    return undefined;
  };

  return {
    enter(name, waiter, nowMs) {
      note(name, nowMs);
      let party = parties.get(name);
      if (party === undefined) parties.set(name, (party = { held: 0, waiting: new Set() }));
      if (party.waiting.size === 0 && mayTake(party, nowMs)) {
        take(party);
        return "in";
      }
      if (party.waiting.size >= connections * WAITING_PER_CONNECTION) return "refused";
      party.waiting.add(waiter);
      waiting += 1;
      turns.set(name, party);
      return "waiting";
    },
    leave(name, nowMs) {
      const party = parties.get(name);
      if (party === undefined || party.held === 0) throw new Error("a connection was given back that nobody had");
      party.held -= 1;
      free += 1;
      forgetIdle(name, party);
      if (waiting === 0) return [];
      const admitted: Waiter[] = [];
      for (let next = admitOne(nowMs); next !== undefined; next = admitOne(nowMs)) admitted.push(next);
      return admitted;
    },
    withdraw(name, waiter) {
      const party = parties.get(name);
      if (party === undefined || !party.waiting.delete(waiter)) return false;
      waiting -= 1;
      if (party.waiting.size === 0) turns.delete(name);
      forgetIdle(name, party);
      return true;
    },
    waiting: () => waiting,
  };
}
