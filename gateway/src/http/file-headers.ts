import type { IncomingHttpHeaders } from "node:http";
import { mediaTypeOf } from "./headers.ts";

/** The type of bytes whose type no client has stated. */
export const UNKNOWN_TYPE = "application/octet-stream";

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const mediaType = new RegExp(`^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[ !#-[\\]-~]*"))*$`);
const TYPE_LENGTH_MAX = 255;
const NAME_LENGTH_MAX = 120;

/** Types that a browser runs, or styles a page with: stored by a user, they are treated as plain bytes. */
const active =
  /^(?:text\/(?:html|css|xml|(?:java|ecma|live|j)script[\d.]*)|application\/(?:x-)?(?:java|ecma)script|application\/xml|[^/]+\/[^/]+\+xml)$/;

/**
 * Returns the headers of a file that a client gave us, none of which runs in a browser as a page of ours. The type is the given one where it is a media type
 * (RFC 9110 §8.3.1) that a browser only shows; of the name the last part, with `_` for all but letters, digits, `.`, `-` and `_`, and all of it as
 * `filename*` (RFC 6266).
 */
export function fileHeaders(
  file: { readonly mimeType: string; readonly name: string },
  { "sec-fetch-dest": destination }: IncomingHttpHeaders = {},
): Record<string, string> {
  return {
    "content-type": typeOf(file.mimeType, destination === "image"),
    "content-disposition": dispositionOf(file.name),
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "accept-ranges": "bytes",
  };
}

function typeOf(text: string, isForImage: boolean): string {
  if (text.length > TYPE_LENGTH_MAX || !mediaType.test(text)) return UNKNOWN_TYPE;
  const essence = mediaTypeOf({ "content-type": text });
  // A file that a browser loads as an image (Fetch Metadata, which no page can set) runs no code, and an SVG is shown under its own type alone.
  if (isForImage && essence === "image/svg+xml") return text;
  return active.test(essence) ? UNKNOWN_TYPE : text;
}

function dispositionOf(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  const safe = base.replaceAll(/[^A-Za-z0-9._-]/gu, "_").slice(0, NAME_LENGTH_MAX);
  // A name of only dots would name a folder.
  const shown = /^\.*$/.test(safe) ? "download" : safe;
  const full = Array.from(base.toWellFormed().replaceAll(unsafe, "_")).slice(0, NAME_LENGTH_MAX).join("");
  return `attachment; filename="${shown}"${/^[\x20-\x7e]*$/.test(full) ? "" : `; filename*=UTF-8''${encoded(full)}`}`;
}

/** Characters that no file system takes, and those that would reverse the letters of a name. */
const unsafe = /[\p{Cc}\p{Cf}"*:<>?|]/gu;

/** Writes a text in the characters of RFC 8187. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/['()]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
