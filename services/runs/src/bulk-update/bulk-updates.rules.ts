import { BULK_UPDATE } from "@tidemark/limits";

const BYTES_OF_ID = 16;

/** Writes ids as the record of a key keeps them: 16 bytes each. */
export function writeIds(ids: readonly string[]): Uint8Array {
  return Buffer.from(ids.join("").replaceAll("-", ""), "hex");
}

/** Reads what `writeIds` wrote. */
export function readIds(bytes: Uint8Array): string[] {
  const hex = Buffer.from(bytes).toString("hex");
  return Array.from({ length: bytes.length / BYTES_OF_ID }, (_, i) =>
    hex
      .slice(2 * BYTES_OF_ID * i, 2 * BYTES_OF_ID * (i + 1))
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
  );
}

/** Splits ids into hundreds; the last one may be smaller. */
export function hundredsOf(ids: readonly string[]): string[][] {
  const { together } = BULK_UPDATE;
  return Array.from({ length: Math.ceil(ids.length / together) }, (_, i) =>
    ids.slice(together * i, together * (i + 1)),
  );
}
