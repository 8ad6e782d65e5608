/** Where a cell of a row is: rows are flex lines, in which pinned cells stick and the first free one keeps the place of those that are not drawn. */
export function cellStyle({
  column,
  left,
  isFirstFree,
  pinnedWidth,
}: {
  readonly column: { readonly width: number; readonly pinned?: boolean };
  readonly left: number;
  readonly isFirstFree: boolean;
  readonly pinnedWidth: number;
}): Readonly<Record<string, string>> {
  const width = { width: `${column.width}px` };
  if (column.pinned === true) return { ...width, left: `${left}px` };
  return isFirstFree ? { ...width, marginLeft: `${left - pinnedWidth}px` } : width;
}
