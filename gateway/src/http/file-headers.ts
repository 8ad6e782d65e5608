/** What bytes are of which nobody says more. */
export const UNKNOWN_TYPE = "application/octet-stream";

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const mediaType = new RegExp(`^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[ !#-[\\]-~]*"))*$`);
const TYPE_LENGTH_MAX = 255;
const NAME_LENGTH_MAX = 120;

/**
 * Returns the headers of a file that a client gave us, none of which runs in a browser as a page of ours. The type is the given one where it is a media type
 * (RFC 9110 §8.3.1); of the name the last part, with `_` for all but letters, digits, `.`, `-` and `_`.
 */
export function fileHeaders(file: { readonly mimeType: string; readonly name: string }): Record<string, string> {
  return {
    "content-type": typeOf(file.mimeType),
    "content-disposition": `attachment; filename="${safeName(file.name)}"`,
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "accept-ranges": "bytes",
  };
}

function typeOf(text: string): string {
  return text.length <= TYPE_LENGTH_MAX && mediaType.test(text) ? text : UNKNOWN_TYPE;
}

function safeName(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  const safe = base.replaceAll(/[^A-Za-z0-9._-]/gu, "_").slice(0, NAME_LENGTH_MAX);
  // Nothing but dots would name a folder.
  return /^\.*$/.test(safe) ? "download" : safe;
}
