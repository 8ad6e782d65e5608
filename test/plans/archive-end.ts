/** The last line of an archive: how many rows there are of each type. */
type End = { readonly counts: Readonly<Record<string, number>> };

/** Returns the last line of an archive. */
export function endOfArchive(text: string): End {
  return JSON.parse(text.slice(text.lastIndexOf("\n", text.length - 2) + 1)) as End;
}

/** Types whose values are packed, many in a row. */
const PACKED = new Set(["points", "lines"]);

/** Returns how many rows an archive is made of. */
export function rowsOfArchive(json: unknown): number {
  const { counts } = json as End;
  return Object.entries(counts).reduce((sum, [type, count]) => sum + (PACKED.has(type) ? 0 : count), 0);
}
