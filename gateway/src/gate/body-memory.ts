import { AppError } from "@tidemark/errors";

/** Counts the bytes of the bodies of all requests that are being received or served, and of large answers until they are sent. */
export type BodyMemory = {
  /** Opens the account of one request of an organization, or of an unknown caller (`""`), from a network of clients. */
  readonly open: (orgId: string, network: string) => BodyAccount;
};

/** Counts the bytes that one request holds. */
export type BodyAccount = {
  /** Adds bytes that were received or will be decoded. @throws service_unavailable when too many would be held */
  readonly take: (bytes: number) => void;
  /** Adds bytes unconditionally. */
  readonly add: (bytes: number) => void;
  /** Subtracts bytes that are no longer held. */
  readonly giveBack: (bytes: number) => void;
  /** Gives everything back when the request has ended. */
  readonly close: () => void;
};

/** Smaller bodies and answers are not counted: the number of connections bounds their sum. */
export const COUNTED_BYTES_MIN = 64 * 1024;

/** Shares of all bytes that the requests of one organization, and those of one network, may hold together. */
const SHARES = { organization: 1 / 4, network: 1 / 2 };

/**
 * Bounds the bytes of all bodies together, per organization, and per network: of many simultaneous large writes, those beyond a
 * bound must be retried later, and a client that stalls leaves room for others. A request that arrives alone always fits, regardless of its size.
 */
export function createBodyMemory(bytesMax: number): BodyMemory {
  const all: Holder = { held: 0, bytesMax, refusal: "too many simultaneous large requests" };
  const organizations = createHolders(bytesMax * SHARES.organization, "of your organization");
  const networks = createHolders(bytesMax * SHARES.network, "from your address");
  return {
    open(orgId, network) {
      const holders = [all, ...(orgId === "" ? [] : [organizations.join(orgId)]), networks.join(network)];
      let own = 0;
      let isOpen = true;
      const add = (bytes: number): void => {
        // The work of a client that has left may continue for a while.
        if (!isOpen) return;
        own += bytes;
        for (const holder of holders) holder.held += bytes;
      };
      return {
        take(bytes) {
          const full = holders.find(({ held, bytesMax: most }) => held > own && held + bytes > most);
          if (full !== undefined) throw new AppError("service_unavailable", full.refusal, { retryAfterSeconds: 1 });
          add(bytes);
        },
        add,
        giveBack: (bytes) => add(-Math.min(bytes, own)),
        close() {
          if (!isOpen) return;
          add(-own);
          isOpen = false;
          if (orgId !== "") organizations.leave(orgId);
          networks.leave(network);
        },
      };
    },
  };
}

/** An organization or network whose requests share a bound. */
type Holder = { held: number; readonly bytesMax: number; readonly refusal: string };

/** Remembers holders for as long as they have requests. */
function createHolders(bytesMax: number, whose: string) {
  const holders = new Map<string, Holder & { requests: number }>();
  return {
    join(name: string): Holder {
      const holder = holders.get(name) ?? {
        held: 0,
        requests: 0,
        bytesMax,
        refusal: `too many simultaneous large requests ${whose}`,
      };
      holder.requests += 1;
      holders.set(name, holder);
      return holder;
    },
    leave(name: string): void {
      const holder = holders.get(name)!;
      holder.requests -= 1;
      if (holder.requests === 0) holders.delete(name);
    },
  };
}
