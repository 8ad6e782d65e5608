import { adjustLimits, type Load } from "./caps.rules.ts";

/** The connections of a pool, shared by parties: organizations, and work that belongs to none. */
export type FairShare<Waiter> = {
  /** Asks for a connection: `in` has one, `waiting` gets one later from `leave`, `refused` will not, because its party has too many waiting. */
  enter(party: string, waiter: Waiter, nowMs: number, use?: Use): "in" | "waiting" | "refused";
  /** Gives a connection of a party back. Returns the waiters that have one now: parties take turns, and waiters of a party are served in their order. */
  leave(party: string, nowMs: number, use?: Use): readonly Waiter[];
  /** Adjusts to how late the server behind the connections is, in milliseconds (`caps.rules.ts`). Returns the waiters that have a connection now. */
  adjustLimits(lateMs: number, nowMs: number): readonly Waiter[];
  /** Takes back a waiting request. Returns false if it does not wait. */
  withdraw(party: string, waiter: Waiter): boolean;
  /** The number of waiting requests. */
  waiting(): number;
};

/**
 * The use of a connection. A `stream` is held as long as its client reads, mostly idle: it counts for the share of its party, but says nothing about which
 * party keeps the database busy.
 */
export type Use = "work" | "stream";

/** The party of work that belongs to no organization. */
export const NO_TENANT = "";

/** The connections of a pool that a party may hold. */
export type Shares = {
  /** While it is the only organization. */
  readonly alone: number;
  /** While others use the pool. */
  readonly beside: number;
  /** Connections that must stay free when it takes one more than its first. */
  readonly reserve: number;
};

/** The pool counts as shared for this long after two organizations had a connection, in milliseconds. */
export const SHARED_MS = 10_000;

/** Connections of the smallest pool with shares. */
const SHARED_MIN = 4;

/** Waiting requests of one party, for each connection of the pool. */
const WAITING_PER_CONNECTION = 200;

/**
 * Returns the shares of a pool. A fifth of it, at least one connection, is for the first request of a party that has none; an organization takes all
 * others while it is alone, and at most half of the pool while others use it. Pools of fewer than four connections, which background work has, have turns
 * but no shares: half of them would be a single connection, and two transactions of one organization could never run at the same time.
 */
export function sharesOf(connections: number): Shares {
  if (connections < SHARED_MIN) return { alone: connections, beside: connections, reserve: 0 };
  const reserve = Math.max(1, Math.floor(connections / 5));
  return { alone: connections - reserve, beside: Math.floor(connections / 2), reserve };
}

/** `held` are connections for work. */
type Party<Waiter> = Load & { streams: number; readonly waiting: Map<Waiter, Use> };

const HELD_BY = { work: "held", stream: "streams" } as const;

/** Shares out `connections`, all free at first. A waiter must not wait twice at the same time. */
export function createFairShare<Waiter>(connections: number): FairShare<Waiter> {
  const { alone, beside, reserve } = sharesOf(connections);
  const parties = new Map<string, Party<Waiter>>();
  /** Parties with waiting requests, in the order of their turns. */
  const turns = new Map<string, Party<Waiter>>();
  let free = connections;
  let waiting = 0;
  let lastOrg = NO_TENANT;
  let sharedUntilMs = Number.NEGATIVE_INFINITY;

  const mayTake = ({ held, streams, cap }: Party<Waiter>, use: Use, nowMs: number): boolean => {
    if (held + streams === 0) return free > 0;
    if (free <= reserve || held + streams >= (nowMs < sharedUntilMs ? beside : alone)) return false;
    return use === "stream" || held < cap;
  };

  const take = (party: Party<Waiter>, use: Use): void => {
    party[HELD_BY[use]] += 1;
    free -= 1;
  };

  const note = (name: string, nowMs: number): void => {
    if (name === lastOrg || name === NO_TENANT) return;
    if (lastOrg !== NO_TENANT) sharedUntilMs = nowMs + SHARED_MS;
    lastOrg = name;
  };

  const forgetIdle = (name: string, party: Party<Waiter>): void => {
    if (party.held + party.streams === 0 && party.waiting.size === 0 && party.cap === Number.POSITIVE_INFINITY)
      parties.delete(name);
  };

  /** Admits the next waiter whose party may take a connection. */
  const admitOne = (nowMs: number): Waiter | undefined => {
    if (free === 0) return undefined;
    for (const [name, party] of turns) {
      const [[first, use]] = party.waiting as unknown as [[Waiter, Use]];
      if (!mayTake(party, use, nowMs)) continue;
      party.waiting.delete(first);
      waiting -= 1;
      turns.delete(name);
      if (party.waiting.size > 0) turns.set(name, party);
      take(party, use);
      return first;
    }
    return undefined;
  };

  const admitAll = (nowMs: number): readonly Waiter[] => {
    if (waiting === 0) return [];
    const admitted: Waiter[] = [];
    for (let next = admitOne(nowMs); next !== undefined; next = admitOne(nowMs)) admitted.push(next);
    return admitted;
  };

  return {
    enter(name, waiter, nowMs, use = "work") {
      note(name, nowMs);
      let party = parties.get(name);
      if (party === undefined)
        parties.set(
          name,
          (party = { held: 0, streams: 0, load: 0, cap: Number.POSITIVE_INFINITY, waiting: new Map() }),
        );
      if (party.waiting.size === 0 && mayTake(party, use, nowMs)) {
        take(party, use);
        return "in";
      }
      if (party.waiting.size >= connections * WAITING_PER_CONNECTION) return "refused";
      party.waiting.set(waiter, use);
      waiting += 1;
      turns.set(name, party);
      return "waiting";
    },
    leave(name, nowMs, use = "work") {
      const party = parties.get(name);
      const held = HELD_BY[use];
      if (party === undefined || party[held] === 0) throw new Error("a connection was given back that was not taken");
      party[held] -= 1;
      free += 1;
      forgetIdle(name, party);
      return admitAll(nowMs);
    },
    adjustLimits(lateMs, nowMs) {
      const organizations = [...parties].filter(([name]) => name !== NO_TENANT);
      adjustLimits(
        organizations.map(([, party]) => party),
        lateMs,
        reserve > 0 && nowMs < sharedUntilMs,
      );
      for (const [name, party] of organizations) forgetIdle(name, party);
      return admitAll(nowMs);
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
