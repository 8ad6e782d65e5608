/** A place among changed rows: behind the row with this transaction, kind and id. */
export type Place = { readonly xid: bigint; readonly kind: string; readonly id: string };

/**
 * How far a reader of the projection has got. `floor` is the transaction from which the next poll
 * reads; in the middle of a pass it is that of the pass's first page, because rows may have
 * changed since. `snapshot` says that the pass shows living rows only, to a reader that knows nothing yet.
 */
export type ProjectionCursor = {
  readonly floor: bigint;
  readonly pass?: { readonly snapshot: boolean; readonly after: Place };
};

const shape = /^v1\.(\d{1,20})(?:\.([sc])\.(\d{1,20})\.(api_key|organization|session)\.([0-9A-Za-z-]{1,64}))?$/;

/** The cursor as a text without meaning to its reader. */
export function writeCursor({ floor, pass }: ProjectionCursor): string {
  if (pass === undefined) return `v1.${floor}`;
  const { xid, kind, id } = pass.after;
  return `v1.${floor}.${pass.snapshot ? "s" : "c"}.${xid}.${kind}.${id}`;
}

/** Reads a cursor; `undefined` for every other text, the empty one included: its reader begins anew. */
export function readCursor(text: string): ProjectionCursor | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, floor = "0", mode, xid = "0", kind = "", id = ""] = match;
  if (mode === undefined) return { floor: BigInt(floor) };
  return { floor: BigInt(floor), pass: { snapshot: mode === "s", after: { xid: BigInt(xid), kind, id } } };
}
