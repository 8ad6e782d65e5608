import { UNKNOWN_TYPE } from "../../http/file-headers.ts";
import { described, withDefault, type Field } from "../fields/field.ts";
import { maybeBlankText } from "../fields/text.ts";

/** Media types of files that trainings write, by the end of the name (IANA Media Types; RFC 4329, RFC 7763). */
const byExtension: Readonly<Record<string, string>> = {
  bin: UNKNOWN_TYPE,
  bmp: "image/bmp",
  csv: "text/csv",
  gif: "image/gif",
  gz: "application/gzip",
  htm: "text/html",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  log: "text/plain",
  md: "text/markdown",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  ogg: "audio/ogg",
  parquet: "application/vnd.apache.parquet",
  pdf: "application/pdf",
  png: "image/png",
  py: "text/x-python",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tif: "image/tiff",
  tiff: "image/tiff",
  tsv: "text/tab-separated-values",
  txt: "text/plain",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
};

/** Returns the media type that a name suggests. */
export function guessType(name: string): string {
  const extension = /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(byExtension, extension) ? byExtension[extension]! : UNKNOWN_TYPE;
}

/** Describes a media type: the empty text when absent or blank, for which the caller guesses a type. */
export const mimeType: Field<string> = described(
  withDefault(maybeBlankText({ bytesMax: 255 }), ""),
  "Default: what the end of the name suggests.",
);
