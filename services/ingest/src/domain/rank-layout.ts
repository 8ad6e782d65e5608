/** Where the keys of a request are stored: its rows, each with the keys that it holds. */
export type RankLayout = readonly RankLayoutRow[];

/** One row of a layout. */
export type RankLayoutRow = {
  readonly setId: number;
  /** The row may have values for some of the keys of its set only. */
  readonly isPage: boolean;
  /** The place in the set of each of the row's keys, and which key of the request it is: arrays of one length. */
  readonly slots: Uint8Array;
  readonly keyIndexes: Uint16Array;
};

/** Where one key of a request is stored. */
export type KeyPlace = { readonly setId: number; readonly slot: number; readonly isPage: boolean };

/** A row to store: the values of its keys from one slot on, as doubles in network order. */
export type PackedRow = {
  readonly setId: number;
  readonly isPage: boolean;
  readonly firstSlot: number;
  readonly packed: Uint8Array;
};

const VALUE_BYTES = 8;

/** The layout of a request whose keys have these places, in the order of the keys. */
export function layoutOf(places: readonly KeyPlace[]): RankLayout {
  const rows = new Map<number, { isPage: boolean; slots: number[]; keyIndexes: number[] }>();
  places.forEach(({ setId, slot, isPage }, keyIndex) => {
    let row = rows.get(setId);
    if (row === undefined) rows.set(setId, (row = { isPage, slots: [], keyIndexes: [] }));
    row.slots.push(slot);
    row.keyIndexes.push(keyIndex);
  });
  // By set, so that two requests lock the rows that they share in one order.
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([setId, { isPage, slots, keyIndexes }]) => ({
      setId,
      isPage,
      slots: Uint8Array.from(slots),
      keyIndexes: Uint16Array.from(keyIndexes),
    }));
}

/** About how many bytes a layout takes in memory. */
export function layoutBytes(layout: RankLayout): number {
  return layout.reduce((sum, { slots }) => sum + 200 + 3 * slots.length, 0);
}

/** The rows of a request, its values in the order of its keys. NaN stands where a row of a page has no value. */
export function packRows(layout: RankLayout, values: readonly number[]): PackedRow[] {
  return layout.map(({ setId, isPage, slots, keyIndexes }) => {
    const firstSlot = slots.reduce((least, slot) => Math.min(least, slot));
    const lastSlot = slots.reduce((most, slot) => Math.max(most, slot));
    const packed = new Uint8Array((lastSlot - firstSlot + 1) * VALUE_BYTES);
    const view = new DataView(packed.buffer);
    for (let slot = firstSlot; slot <= lastSlot; slot++) {
      view.setUint32((slot - firstSlot) * VALUE_BYTES, NAN_HIGH);
    }
    slots.forEach((slot, i) => view.setFloat64((slot - firstSlot) * VALUE_BYTES, values[keyIndexes[i]!]!));
    return { setId, isPage, firstSlot, packed };
  });
}

/** The upper half of the one NaN that stands for no value; the lower half is 0. */
const NAN_HIGH = 0x7ff8_0000;
