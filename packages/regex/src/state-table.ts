/**
 * The states of a deterministic automaton: sets of positions, each once, with their transitions. A state is named by the
 * place where its transitions begin in `next`.
 */
export type StateTable = {
  /** By state and class; also what {@link createStateTable} was given for what is not known yet. */
  readonly next: Int32Array;
  /** The sets, one after the other in the order of their states. */
  readonly sets: Int32Array;
  readonly count: number;
  /** Goes up whenever all states are dropped, to make room; states named before mean nothing then. */
  readonly generation: number;
  /** Where a set is put together. */
  readonly candidate: Int32Array;
  /** The state of the set in `candidate`, which is made if it is new. */
  intern(): number;
};

const FEWEST_STATES = 16;

/** Makes a table of sets of `words` words with `stride` transitions each, in about `bytes` bytes at most. */
export function createStateTable(words: number, stride: number, unknown: number, bytes: number): StateTable {
  // The slots of the hash table are two to four per state.
  const most = Math.max(FEWEST_STATES, Math.floor(bytes / 4 / (stride + words + 4)));
  let room = 0;
  let count = 0;
  let generation = 0;
  let sets = new Int32Array(0);
  let next = new Int32Array(0);
  let slots = new Int32Array(0);
  const candidate = new Int32Array(words);

  function hashAt(array: Int32Array, at: number): number {
    let hash = 0;
    for (let i = 0; i < words; i++) hash = Math.imul(hash ^ array[at + i]!, 0x9e_37_79_b1) ^ (hash >>> 15);
    return (hash ^ (hash >>> 16)) >>> 0;
  }

  function isCandidate(state: number): boolean {
    for (let i = 0, at = state * words; i < words; i++) if (sets[at + i] !== candidate[i]) return false;
    return true;
  }

  function freeSlot(hash: number): number {
    let slot = hash & (slots.length - 1);
    while (slots[slot] !== -1) slot = (slot + 1) & (slots.length - 1);
    return slot;
  }

  function enlarge(): void {
    room = Math.min(most, Math.max(FEWEST_STATES, room * 2));
    const [oldSets, oldNext] = [sets, next];
    sets = new Int32Array(room * words);
    sets.set(oldSets);
    next = new Int32Array(room * stride).fill(unknown, count * stride);
    next.set(oldNext);
    slots = new Int32Array(2 ** Math.ceil(Math.log2(room * 2))).fill(-1);
    for (let state = 0; state < count; state++) slots[freeSlot(hashAt(sets, state * words))] = state;
  }

  function clear(): void {
    next.fill(unknown);
    slots.fill(-1);
    count = 0;
    generation++;
  }

  return {
    get next() {
      return next;
    },
    get sets() {
      return sets;
    },
    get count() {
      return count;
    },
    get generation() {
      return generation;
    },
    candidate,
    intern() {
      const hash = hashAt(candidate, 0);
      let slot = hash & (slots.length - 1);
      while (room > 0 && slots[slot] !== -1) {
        if (isCandidate(slots[slot]!)) return slots[slot]! * stride;
        slot = (slot + 1) & (slots.length - 1);
      }
      if (count === room) {
        if (room < most) enlarge();
        else clear();
        slot = freeSlot(hash);
      }
      sets.set(candidate, count * words);
      slots[slot] = count;
      return count++ * stride;
    },
  };
}
