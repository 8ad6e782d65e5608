import { badRequest } from "@tidemark/errors";

/** Most bytes of a title, a name or a description in UTF-8 (API specification, Limits). */
const TEXT_BYTES_MAX = 512;

/** Requires a text of 1 to 512 bytes that can be stored. @throws bad_request */
export function requireText(text: string, field: string): string {
  const bytes = Buffer.byteLength(text);
  if (text.trim() === "" || bytes > TEXT_BYTES_MAX) {
    throw badRequest(`${field} must have 1 to ${TEXT_BYTES_MAX} bytes`, field);
  }
  if (text.includes("\0")) throw badRequest(`${field} must not contain NUL`, field);
  return text;
}

/** The same for a text that may be left out or empty, which means null. @throws bad_request */
export function textOrNull(text: string | undefined, field: string): string | null {
  return text === undefined || text === "" ? null : requireText(text, field);
}
