import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { stableId, type ArchiveLine } from "@tidemark/archive";
import { readDocument, type ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { readSeconds } from "@tidemark/values";
import { TEXT_BYTES_MAX } from "../content/read-fields.rules.ts";

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

const utf8 = new TextEncoder();

/** Checks a key or a path: 1 to 512 bytes that can be stored. @throws bad_request */
export function checkName(name: string, field: string): void {
  const bytes = Buffer.byteLength(name);
  if (bytes === 0 || bytes > TEXT_BYTES_MAX || !isStorable(name)) {
    throw badRequest(`${field} must have 1 to ${TEXT_BYTES_MAX} bytes without NUL or lone surrogates`, field);
  }
}

/** Checks a step, which may be missing. @throws bad_request */
export function checkStep(step: number | undefined): void {
  if (step !== undefined && !(step >= 0 && Number.isFinite(step))) {
    throw badRequest("step must be a finite number of at least 0", "step");
  }
}

/** Checks that an instant is on an existing day: the form of a line allows others. @throws bad_request */
export function checkInstant(instant: string, field: string): void {
  if (Number.isNaN(readSeconds(instant))) throw badRequest(`${field} must be an instant`, field);
}

/** Reads a JSON object of at most this many bytes. @throws bad_request */
export function readObjectText(json: string, field: string, bytesMax: number): ExactObject {
  checkBytes(json, field, bytesMax);
  return readDocument(utf8.encode(json), field);
}

/** Checks the length of a document. @throws bad_request */
export function checkBytes(json: string, field: string, bytesMax: number): void {
  if (Buffer.byteLength(json) > bytesMax) throw badRequest(`${field} must have at most ${bytesMax} bytes`, field);
}

/** Returns whether PostgreSQL can store a text. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}
