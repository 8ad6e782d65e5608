import { readDocument, type ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { readSeconds } from "@tidemark/instants";
import { TEXT_BYTES_MAX } from "../content/read-fields.rules.ts";

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
