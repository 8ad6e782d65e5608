import { badRequest } from "@tidemark/errors";

/** Maximum bytes of a title, a name or a description in UTF-8 (API specification, Limits). */
const TEXT_BYTES_MAX = 512;

/** Requires a text of 1 to 512 bytes, not blank, that can be stored. @throws bad_request */
export function requireText(text: string, field: string): string {
  if (text.trim() === "") throw badRequest(`${field} must not be empty`, field);
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX)
    throw badRequest(`${field} must have at most ${TEXT_BYTES_MAX} bytes`, field);
  if (text.includes("\0") || !text.isWellFormed()) {
    throw badRequest(`${field} must not contain NUL or lone surrogates`, field);
  }
  return text;
}

/** The same for a text that may be left out or empty, which means null. @throws bad_request */
export function textOrNull(text: string | undefined, field: string): string | null {
  return text === undefined || text === "" ? null : requireText(text, field);
}

/** Returns the UTF-8 bytes of some texts together; absent ones have none. */
export function textBytes(...texts: readonly (string | null | undefined)[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
}
