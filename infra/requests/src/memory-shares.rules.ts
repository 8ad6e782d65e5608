/** The memory for data that wait to be stored, shared by parties: organizations. */
export type MemoryShares = {
  /** Takes bytes for a party. Returns false when it may not have that many now. */
  take(party: string, bytes: number): boolean;
  /** Gives bytes of a party back that it has taken. */
  giveBack(party: string, bytes: number): void;
};

/** A party may hold this many times the memory that stays free for others. */
const TIMES_FREE = 4;

/**
 * Shares out `bytesMax` bytes. A party that holds nothing may take all free memory. Beyond that a party holds at most four times what it leaves free: alone
 * four fifths of all, next to a second one that does the same four ninths, and so on, so that some is always free for the next. A request that arrives
 * when no memory is held fits, regardless of its size.
 *
 * The bound that follows free memory is taken from shared buffers of switches: A. K. Choudhury, E. L. Hahne, Dynamic Queue Length Thresholds for
 * Shared-Memory Packet Switches (1998).
 */
export function createMemoryShares(bytesMax: number): MemoryShares {
  const held = new Map<string, number>();
  let total = 0;
  return {
    take(party, bytes) {
      const own = held.get(party) ?? 0;
      const free = bytesMax - total - bytes;
      const isFirst = own === 0 && (total === 0 || free >= 0);
      if (!isFirst && own + bytes > TIMES_FREE * free) return false;
      held.set(party, own + bytes);
      total += bytes;
      return true;
    },
    giveBack(party, bytes) {
      const left = (held.get(party) ?? 0) - bytes;
      if (left > 0) held.set(party, left);
      else held.delete(party);
      total -= bytes;
    },
  };
}
