/** The response to an append: how many events were stored, and their traces, ascending. */
export type AppendAnswer = { readonly inserted: number; readonly traceIds: readonly string[] };

const COUNT_BYTES = 4;
const ID_BYTES = 16;

/** Writes an answer as the record of an idempotency key keeps it. */
export function writeAnswer({ inserted, traceIds }: AppendAnswer): Uint8Array {
  const bytes = Buffer.alloc(COUNT_BYTES + ID_BYTES * traceIds.length);
  bytes.writeUInt32BE(inserted);
  traceIds.forEach((id, i) => bytes.write(id, COUNT_BYTES + ID_BYTES * i, "hex"));
  return bytes;
}

/** Reads what `writeAnswer` wrote. */
export function readAnswer(bytes: Uint8Array): AppendAnswer {
  const all = Buffer.from(bytes);
  const traces = (all.length - COUNT_BYTES) / ID_BYTES;
  const idAt = (i: number): string => all.toString("hex", COUNT_BYTES + ID_BYTES * i, COUNT_BYTES + ID_BYTES * (i + 1));
  return { inserted: all.readUInt32BE(), traceIds: Array.from({ length: traces }, (_, i) => idAt(i)) };
}
