import type { ArchiveLine, LineOf } from "@tidemark/archive";
import { readExactJson } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import {
  ATTRIBUTE_TYPES,
  OBJECT_DOCUMENT_BYTES_MAX,
  OBJECT_KINDS,
  OBJECT_VALUE_BYTES_MAX,
  TABLE_COLUMNS_MAX,
  TABLE_ROW_BYTES_MAX,
} from "@tidemark/limits";
import { checkBytes, checkInstant, checkName, checkStep, isStorable, readObjectText } from "./new-ids.rules.ts";

/** Bytes that the service adds to a sent summary: the columns of a row at most, or facts of an artifact, and the names of these members. */
const ADDED_BYTES_MAX = TABLE_ROW_BYTES_MAX + 1024;

const utf8 = new TextEncoder();

/**
 * Checks a line of an object or of rows of a table by the rules of the service that stores them; lines of other kinds pass. Media may have lost their
 * artifact since they were logged.
 * @throws bad_request
 */
export function checkObjects(line: ArchiveLine): void {
  if (line.line === "object") checkObject(line);
  else if (line.line === "object.rows") line.rows.forEach((row, i) => checkRow(row, `rows[${i}]`));
}

function checkObject({ key, kind, step, value, metadata, summary, created_at }: LineOf<"object">): void {
  checkName(key, "key");
  if (!OBJECT_KINDS.some((known) => known === kind)) {
    throw badRequest(`kind must be one of ${OBJECT_KINDS.join(", ")}`, "kind");
  }
  checkStep(step);
  checkInstant(created_at, "created_at");
  checkBytes(value, "value", OBJECT_VALUE_BYTES_MAX);
  readExactJson(utf8.encode(value), "value");
  readObjectText(metadata, "metadata", OBJECT_DOCUMENT_BYTES_MAX);
  readObjectText(summary, "summary", OBJECT_DOCUMENT_BYTES_MAX + ADDED_BYTES_MAX);
}

function checkRow(row: string, field: string): void {
  const names = Object.keys(readObjectText(row, field, TABLE_ROW_BYTES_MAX));
  if (names.length > TABLE_COLUMNS_MAX) throw badRequest(`${field} must have at most ${TABLE_COLUMNS_MAX} columns`);
  if (!names.every(isStorable)) throw badRequest(`${field} has a key with NUL or a lone surrogate`);
}

/**
 * Checks a line of an attribute by the rules of the service that stores it; lines of other kinds pass. A value may have any length, because attributes
 * never had a limit other than that of a request.
 * @throws bad_request
 */
export function checkAttributes(line: ArchiveLine): void {
  if (line.line !== "attribute") return;
  checkName(line.path, "path");
  if (!ATTRIBUTE_TYPES.some((known) => known === line.attribute_type)) {
    throw badRequest(`attribute_type must be one of ${ATTRIBUTE_TYPES.join(", ")}`, "attribute_type");
  }
  checkStep(line.step);
  checkInstant(line.logged_at, "logged_at");
  checkInstant(line.created_at, "created_at");
  readExactJson(utf8.encode(line.value), "value");
  readObjectText(line.summary, "summary", Number.POSITIVE_INFINITY);
}
