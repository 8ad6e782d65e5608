import { SPAN_KINDS, SPAN_STATUSES } from "@tidemark/limits";

/** Numbers of spans by their ids: an open hash table, because a `Map` of texts would take five times the memory. */
export type SpanIds = {
  /** Returns the number of a span, -1 for one that is not in the table. */
  find(high: number, low: number): number;
  /** Adds a new id, and returns its number: the number of ids before it. */
  add(high: number, low: number): number;
  high(span: number): number;
  low(span: number): number;
  readonly count: number;
  readonly bytes: number;
};

const SLOTS_MIN = 32;

/** Creates an empty table. */
export function createSpanIds(): SpanIds {
  let halves = new Uint32Array(SLOTS_MIN);
  /** Number plus one; 0 is free. At most half of the slots are taken. */
  let slots = new Uint32Array(SLOTS_MIN);
  let count = 0;

  const slotOf = (high: number, low: number): number => {
    const mask = slots.length - 1;
    let slot = (Math.imul(high ^ (low >>> 15), 0x9e37_79b1) ^ Math.imul(low, 0x85eb_ca77)) >>> 0;
    for (slot = (slot ^ (slot >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot]!;
      if (number === 0) return slot;
      if (halves[2 * number - 2] === high && halves[2 * number - 1] === low) return slot;
    }
  };
  const grow = (): void => {
    const before = halves;
    halves = new Uint32Array(2 * before.length);
    halves.set(before);
    slots = new Uint32Array(2 * slots.length);
    for (let span = 0; span < count; span++) slots[slotOf(halves[2 * span]!, halves[2 * span + 1]!)] = span + 1;
  };

  return {
    find: (high, low) => slots[slotOf(high, low)]! - 1,
    add(high, low) {
      if (2 * (count + 1) > slots.length) grow();
      halves[2 * count] = high;
      halves[2 * count + 1] = low;
      slots[slotOf(high, low)] = count + 1;
      count += 1;
      return count - 1;
    },
    high: (span) => halves[2 * span]!,
    low: (span) => halves[2 * span + 1]!,
    get count() {
      return count;
    },
    get bytes() {
      return halves.byteLength + slots.byteLength;
    },
  };
}

/** Compares ids as numbers, which is also the order of their texts. */
export function compareIds(ids: SpanIds, a: number, b: number): number {
  return ids.high(a) - ids.high(b) || ids.low(a) - ids.low(b);
}

/** Returns an id as 16 hexadecimal digits. */
export function spanIdText(high: number, low: number): string {
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}

/** The number of a status in `tidemark.traces.v1.SpanStatus`. */
export function statusNumber(status: (typeof SPAN_STATUSES)[number]): number {
  return SPAN_STATUSES.indexOf(status) + 1;
}

/** The number of a kind in `tidemark.traces.v1.SpanKind`. */
export function kindNumber(kind: (typeof SPAN_KINDS)[number]): number {
  return SPAN_KINDS.indexOf(kind) + 1;
}
