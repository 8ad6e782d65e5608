/** How a file is shown before it is downloaded. */
export type PreviewKind = "image" | "video" | "audio" | "text" | "json" | "none";

/** Bytes of a text that are read for its preview. */
export const PREVIEW_BYTES = 256 * 1024;

/** The largest image that is shown without being asked for. */
const IMAGE_BYTES_MAX = 20_000_000;

const TEXTS =
  /\.(txt|log|md|csv|tsv|ya?ml|toml|ini|cfg|py|ts|js|sh|rs|go|c|cc|cpp|h|java|sql|html|xml|ipynb|jsonl|ndjson)$/i;

/** Returns how to show a file: by its type, else by its name. What only the name calls an image is not shown as one. */
export function previewKind(mimeType: string | null, name: string, bytes: number | null): PreviewKind {
  const type = (mimeType ?? "").split(";")[0]!.trim().toLowerCase();
  if (/^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/.test(type))
    return (bytes ?? 0) > IMAGE_BYTES_MAX ? "none" : "image";
  if (type.startsWith("video/")) return "video";
  if (type.startsWith("audio/")) return "audio";
  if (type === "application/json" || /\.(json|ipynb)$/i.test(name)) return "json";
  if (type.startsWith("text/") || TEXTS.test(name)) return "text";
  return "none";
}

// TC39 "JSON.parse source text access": browsers have it, the compiler's library does not yet.
const { rawJSON } = JSON as unknown as { readonly rawJSON?: (text: string) => unknown };

/** Writes a text with indents and the digits that it has if it is complete JSON, else unchanged. */
export function prettyJson(text: string): string {
  try {
    const reviver = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
      typeof value === "number" && context?.source !== undefined ? (rawJSON?.(context.source) ?? value) : value;
    return JSON.stringify(JSON.parse(text, reviver), undefined, 2);
  } catch {
    // It is cut, or not JSON despite its type: shown as it is.
    return text;
  }
}

/** Whether bytes look like a text: those of other files have zeros soon. */
export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, 4096).includes(0);
}
