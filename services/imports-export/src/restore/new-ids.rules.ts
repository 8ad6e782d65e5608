import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { stableId, type ArchiveLine } from "@tidemark/archive";

/** A row whose id was taken. */
export type Replaced = { readonly type: IdType; readonly old: string; readonly new: string };

/** Returns the id that replaces a taken id: the same each time this archive is restored. */
export function spareId(archiveId: string, type: IdType, old: string): string {
  return stableId(archiveId, type, old);
}

/** A text that is an id. */
const QUOTED_ID = /"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"/g;

/** Returns the ids of all rows. */
export function newIdsOf(replaced: readonly Replaced[]): NewIds {
  const ids = new Map(replaced.map(({ type, old, new: id }) => [`${type} ${old}`, id]));
  const ofAny = new Map(replaced.map(({ old, new: id }) => [old, id]));
  return {
    of: (type, old) => ids.get(`${type} ${old}`) ?? old,
    inDocument: (json) =>
      ofAny.size === 0 ? json : json.replace(QUOTED_ID, (_, old: string) => `"${ofAny.get(old) ?? old}"`),
  };
}

/** Packs a value for the database. */
export function pack(value: unknown): Uint8Array {
  return zstdCompressSync(JSON.stringify(value));
}

const UNPACKED_BYTES_MAX = 1024 ** 3;

/** Returns the packed value. */
export function unpack<T>(packed: Uint8Array): T {
  return JSON.parse(zstdDecompressSync(packed, { maxOutputLength: UNPACKED_BYTES_MAX }).toString()) as T;
}

/** A line of an archive with its place in the file, from 1. */
export type PlacedLine = { readonly number: number; readonly line: ArchiveLine };

/** The types of rows whose ids may be taken. */
export type IdType = "project" | "run" | "artifact" | "collection" | "version" | "entry" | "edge" | "report" | "view";

/** The ids that rows get. */
export type NewIds = {
  /** Returns the id that a row of this type gets; an id that is not in the archive stays unchanged. */
  readonly of: (type: IdType, old: string) => string;
  /** Returns a JSON text in which ids of rows of the archive are replaced with the ids that these rows get. */
  readonly inDocument: (json: string) => string;
};
