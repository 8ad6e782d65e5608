import { artifactUri } from "@tidemark/limits";

/** The replacement for a place in the object store that has no known artifact. */
const HIDDEN = "[REDACTED]";

const text = new TextDecoder();
const utf8 = new TextEncoder();

/**
 * Returns a JSON document in which no text value reveals where the bytes of artifacts are kept: each one that names an object of the organization in the
 * object store, as a path, an address or a signed address, becomes the public URI of the artifact. Everything else keeps its bytes.
 */
export function hidePrivateUris(json: Uint8Array, orgId: string, artifactId: string): Uint8Array {
  const place = `o/${orgId}/`;
  // Hardly any document names one, and searching for bytes costs next to nothing.
  if (!Buffer.from(json.buffer, json.byteOffset, json.length).includes(place)) return json;
  const uri = JSON.stringify(artifactId === "" ? HIDDEN : artifactUri(artifactId));
  return utf8.encode(
    text.decode(json).replaceAll(TEXT, (found, colon: string | undefined) => {
      return colon === undefined && isNamed(found, place) ? uri : found;
    }),
  );
}

/** A text of a JSON document; a key includes its colon. */
const TEXT = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

const OBJECT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** Returns whether a JSON text holds the key of an object, alone or as the end of a longer path. */
function isNamed(found: string, place: string): boolean {
  for (let at = found.indexOf(place); at !== -1; at = found.indexOf(place, at + 1)) {
    const before = found[at - 1]!;
    if (!/[0-9A-Za-z]/.test(before) && OBJECT_ID.test(found.slice(at + place.length))) return true;
  }
  return false;
}
