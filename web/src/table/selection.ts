/** The selected rows, by their ids, and where a range continues from. */
export type Selection = { readonly ids: ReadonlySet<string>; readonly anchor: number | undefined };

/** Nothing is chosen. */
export const NOTHING: Selection = { ids: new Set(), anchor: undefined };

/** Selects or deselects a row; a range continues from it. */
export function toggleRow({ ids }: Selection, index: number, id: string): Selection {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: index };
}

/** Selects all rows from the anchor to a row, in either direction. Rows that are not loaded are left out: the user has not seen them. */
export function selectRange(
  { ids, anchor }: Selection,
  index: number,
  idOf: (index: number) => string | undefined,
): Selection {
  const from = anchor ?? index;
  const next = new Set(ids);
  for (let i = Math.min(from, index); i <= Math.max(from, index); i += 1) {
    const id = idOf(i);
    if (id !== undefined) next.add(id);
  }
  return { ids: next, anchor: from };
}
