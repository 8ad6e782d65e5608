/** A position among changed rows: after the row with this transaction, kind and id. */
export type ChangePosition = { readonly xid: bigint; readonly kind: string; readonly id: string };

/**
 * How far a reader of the projection has read. `floor` is the transaction from which the next poll reads; in the middle
 * of a pass it is the floor of the pass's first page, because rows may have changed since. `snapshot` says that the pass
 * returns live rows only, to a reader that knows nothing yet.
 */
export type ProjectionCursor = {
  readonly floor: bigint;
  readonly pass?: { readonly snapshot: boolean; readonly after: ChangePosition };
};

const shape = /^v1\.(\d{1,20})(?:\.([sc])\.(\d{1,20})\.(api_key|organization|session)\.([0-9A-Za-z-]{1,64}))?$/;

/** Returns the cursor as a text, which is opaque to the reader of the projection. */
export function writeCursor({ floor, pass }: ProjectionCursor): string {
  if (pass === undefined) return `v1.${floor}`;
  const { xid, kind, id } = pass.after;
  return `v1.${floor}.${pass.snapshot ? "s" : "c"}.${xid}.${kind}.${id}`;
}

/** Reads a cursor; returns undefined for every other text, including the empty one: its reader starts over. */
export function readCursor(text: string): ProjectionCursor | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, floor = "0", mode, xid = "0", kind = "", id = ""] = match;
  if (mode === undefined) return { floor: BigInt(floor) };
  return { floor: BigInt(floor), pass: { snapshot: mode === "s", after: { xid: BigInt(xid), kind, id } } };
}
