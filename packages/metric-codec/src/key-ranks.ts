/** The distinct ids of several ascending lists, and each one's place among them. */
export type KeyRanks = { readonly keyIds: Uint32Array; readonly rankOf: (keyId: number) => number };

/** Above so many slots per listed id, a table over the whole range of ids costs more than to search. */
const TABLE_SLOTS_PER_ID = 32;

/** Ranks the ids of several ascending lists. The ids of a run are numbered from 0, so usually a table over their range finds a rank at once. */
export function rankKeyIds(lists: readonly Uint32Array[]): KeyRanks {
  let listed = 0;
  let lowest = Infinity;
  let highest = -1;
  for (const ids of lists) {
    if (ids.length === 0) continue;
    listed += ids.length;
    lowest = Math.min(lowest, ids[0]!);
    highest = Math.max(highest, ids[ids.length - 1]!);
  }
  if (listed === 0) return { keyIds: new Uint32Array(0), rankOf: () => 0 };
  return highest - lowest < TABLE_SLOTS_PER_ID * listed ? byTable(lists, lowest, highest) : bySearch(lists, listed);
}

function byTable(lists: readonly Uint32Array[], lowest: number, highest: number): KeyRanks {
  const ranks = new Uint32Array(highest - lowest + 1);
  for (const ids of lists) for (let i = 0; i < ids.length; i++) ranks[ids[i]! - lowest] = 1;
  const keyIds = new Uint32Array(ranks.length);
  let count = 0;
  for (let slot = 0; slot < ranks.length; slot++) {
    if (ranks[slot] === 0) continue;
    keyIds[count] = lowest + slot;
    ranks[slot] = count;
    count += 1;
  }
  return { keyIds: keyIds.slice(0, count), rankOf: (keyId) => ranks[keyId - lowest]! };
}

function bySearch(lists: readonly Uint32Array[], listed: number): KeyRanks {
  const sorted = new Uint32Array(listed);
  let at = 0;
  for (const ids of lists) {
    sorted.set(ids, at);
    at += ids.length;
  }
  sorted.sort();
  const keyIds = sorted.filter((id, i) => i === 0 || id !== sorted[i - 1]);
  return { keyIds, rankOf: (keyId) => lowerBound(keyIds, keyId, 0, keyIds.length) };
}

/** The first index in `[from, to)` whose number is not below `wanted`, in an ascending array; `to` when there is none. */
export function lowerBound(ascending: Uint32Array, wanted: number, from: number, to: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
