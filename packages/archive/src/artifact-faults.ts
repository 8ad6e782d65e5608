import { readSeconds } from "@tidemark/values";
import {
  ALIAS_SHAPE,
  ARTIFACT_TYPES,
  COLLECTION_TYPES,
  ENTRY_BYTES_MAX,
  ENTRY_PATH_BYTES_MAX,
  RESERVED_ALIAS_SHAPE,
  RETENTION_MODES,
  TTL_DAYS,
} from "@tidemark/limits";
import type { LineOf } from "./line.ts";

/*
 * Checks by the owner of artifacts on lines of an archive, beyond their shapes. Each function returns what is wrong with the first wrong member.
 */

/** An artifact, a collection or a version without the type of its line. */
export type RowOfLine<K extends "artifact" | "collection" | "version"> = Omit<LineOf<K>, "line">;

/** An entry of a version. */
export type EntryOfLine = LineOf<"version.entries">["entries"][number];

/** An edge of a version. */
export type EdgeOfLine = LineOf<"version.edges">["edges"][number];

const NAME_BYTES_MAX = 512;
const REFERENCE_BYTES_MAX = 2048;
const LONG_BYTES_MAX = 16_384;
/** As many as a request has that makes a collection. */
const METADATA_BYTES_MAX = 4 * 1024 * 1024;
const INTEGER_MAX = 2 ** 31 - 1;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HASH = /^[0-9a-f]{64}$/;
const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z$/;
// eslint-disable-next-line no-control-regex -- these are the ones that are looked for
const FORBIDDEN_IN_PATH = /[\\\u0000-\u001f\u007f-\u009f]/;
const utf8 = new TextEncoder();

type Fault = string | undefined;
type Members<T> = Readonly<Partial<Record<keyof T & string, (value: never) => Fault>>>;

/** Returns the fault of the first member that has one; members that are missing have none. */
function firstFault<T extends object>(row: T, members: Members<T>): Fault {
  for (const [name, check] of Object.entries(members) as [keyof T & string, (value: unknown) => Fault][]) {
    const value: unknown = row[name];
    const fault = value === undefined ? undefined : check(value);
    if (fault !== undefined) return `${name} ${fault}`;
  }
  return undefined;
}

const textOf =
  (min: number, max: number) =>
  (value: string): Fault => {
    const bytes = utf8.encode(value).length;
    if (bytes < min || bytes > max) return `must have ${min} to ${max} bytes`;
    return value.includes("\0") ? "must not contain the character U+0000" : undefined;
  };
const numberOf =
  (min: number, max: number) =>
  (value: number): Fault =>
    Number.isSafeInteger(value) && value >= min && value <= max
      ? undefined
      : `must be a whole number from ${min} to ${max}`;
const wordOf =
  (words: readonly string[]) =>
  (value: string): Fault =>
    words.includes(value) ? undefined : `must be one of ${words.join(", ")}`;
const id = (value: string): Fault => (UUID.test(value) ? undefined : "must be a UUID in lower case");
const hash = (value: string): Fault => (HASH.test(value) ? undefined : "must be 64 hexadecimal digits");
const step = (value: number): Fault =>
  Number.isFinite(value) && value >= 0 ? undefined : "must be a finite number from 0";
const long = textOf(0, LONG_BYTES_MAX);
const metadata = textOf(2, METADATA_BYTES_MAX);
const size = numberOf(0, Number.MAX_SAFE_INTEGER);
const index = numberOf(0, INTEGER_MAX);

function instant(value: string): Fault {
  return INSTANT.test(value) && !Number.isNaN(readSeconds(value)) ? undefined : "must be an instant";
}

function path(value: string): Fault {
  if (FORBIDDEN_IN_PATH.test(value)) return "must not contain backslashes or control characters";
  if (value.split("/").some((part) => part === "" || part === "." || part === "..")) {
    return 'must be relative, without empty parts, "." and ".."';
  }
  return textOf(1, ENTRY_PATH_BYTES_MAX)(value);
}

function aliases(values: readonly string[]): Fault {
  const isWrong = values.some((alias) => !ALIAS_SHAPE.test(alias) || RESERVED_ALIAS_SHAPE.test(alias));
  return isWrong ? 'must have 1 to 64 lower-case letters, digits, "_", "-" and ".", and not be reserved' : undefined;
}

/** Returns the fault of an artifact, undefined if it has none. Whether its metadata are an object is not looked at. */
export function faultOfArtifact(row: RowOfLine<"artifact">): Fault {
  const fault = firstFault(row, {
    id,
    run_id: id,
    artifact_type: wordOf(ARTIFACT_TYPES),
    name: textOf(1, NAME_BYTES_MAX),
    step,
    mime_type: textOf(1, NAME_BYTES_MAX),
    size_bytes: size,
    sha256: textOf(0, NAME_BYTES_MAX),
    uri: textOf(1, NAME_BYTES_MAX),
    metadata,
    created_at: instant,
  });
  if (fault !== undefined || row.uri !== undefined) return fault;
  if (row.size_bytes === undefined) return "size_bytes is missing";
  return row.sha256 === undefined || hash(row.sha256) !== undefined
    ? "sha256 must be 64 hexadecimal digits"
    : undefined;
}

/** Returns the fault of a collection, undefined if it has none. Whether its metadata are an object is not looked at. */
export function faultOfCollection(row: RowOfLine<"collection">): Fault {
  return firstFault(row, {
    id,
    project_id: id,
    collection_type: wordOf(COLLECTION_TYPES),
    name: textOf(1, NAME_BYTES_MAX),
    description: long,
    metadata,
    next_index: index,
    created_at: instant,
    updated_at: instant,
  });
}

/** Returns the fault of a version, undefined if it has none. */
export function faultOfVersion(row: RowOfLine<"version">): Fault {
  const fault = firstFault(row, {
    id,
    collection_id: id,
    // The next one has to be a number as well.
    version_index: numberOf(0, INTEGER_MAX - 1),
    digest: hash,
    source_run_id: id,
    source_step: step,
    file_count: index,
    size_bytes: size,
    state: wordOf(["active", "soft_deleted"]),
    aliases,
    ttl_days: numberOf(TTL_DAYS.min, TTL_DAYS.max),
    retention_mode: wordOf(RETENTION_MODES),
    expires_at: instant,
    delete_requested_at: instant,
    deleted_at: instant,
    purge_after: instant,
    purged_at: instant,
    audit_reason: long,
    created_at: instant,
  });
  if (fault !== undefined) return fault;
  const isDeleted = row.state === "soft_deleted";
  if (isDeleted !== (row.deleted_at !== undefined)) return "deleted_at does not fit to state";
  if (isDeleted !== (row.purge_after !== undefined)) return "purge_after does not fit to state";
  return row.purged_at !== undefined && !isDeleted ? "purged_at does not fit to state" : undefined;
}

/** Returns the fault of an entry, undefined if it has none. */
export function faultOfEntry(row: EntryOfLine): Fault {
  const fault = firstFault(row, {
    id,
    path,
    kind: wordOf(["file", "directory", "reference"]),
    size_bytes: numberOf(0, ENTRY_BYTES_MAX),
    sha256: hash,
    mime_type: textOf(1, NAME_BYTES_MAX),
    reference_uri: textOf(1, REFERENCE_BYTES_MAX),
  });
  if (fault !== undefined || row.reference_uri !== undefined) return fault;
  if (row.kind === "reference") return "reference_uri is missing";
  if (row.kind === "directory") return undefined;
  if (row.size_bytes === undefined) return "size_bytes is missing";
  return row.sha256 === undefined ? "sha256 is missing" : undefined;
}

/** Returns the fault of an edge, undefined if it has none. */
export function faultOfEdge(row: EdgeOfLine): Fault {
  return firstFault(row, {
    id,
    run_id: id,
    direction: wordOf(["input", "output"]),
    source: textOf(1, NAME_BYTES_MAX),
    created_at: instant,
  });
}
