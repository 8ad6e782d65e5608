import type { ExactJson } from "@tidemark/documents";
import { isExactObject } from "./payload.rules.ts";

/** Parts of a key, compared as letters and digits in lower case, whose value may be a secret or name a place in a store. */
const SECRET_PARTS = [
  "password",
  "secret",
  "token",
  "apikey",
  "authorization",
  "credential",
  "cookie",
  "tenantroute",
  "localstorage",
  "signedurl",
  "presigned",
  "bucketname",
  "objectkey",
  "objectpath",
  "artifacturi",
];

/** Whole keys, compared in the same way, that name something of the organization from which the view comes. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  ...["org", "organization", "user", "owneruser", "session", "tenant"].map((noun) => `${noun}id`),
  "runid",
  "runids",
  "primaryrunid",
  "referencerunid",
  "selectedrunid",
  "selectedrunids",
  "storagekey",
  "bucket",
  "url",
  "uri",
  "artifacturl",
]);

/** Addresses and credentials, by how they begin. */
const FORBIDDEN_BEGINNING = /^\s*(?:https?:\/\/|s3:\/\/|gs:\/\/|bearer |sk_|pk_|AKIA)/i;
/** Credentials inside a text: parameters of an address, a PEM header, our own. */
const FORBIDDEN_INSIDE =
  /(?:signature|token|password|secret|api_key|credential|session)=|localstorage|-----BEGIN |tm_(?:[a-z]+_)?[0-9A-Za-z]{12}_[0-9A-Za-z]{32}/i;

/** A payload without parts that must not leave an organization or arrive from another one, and the list of removed parts. */
export type Sanitized<T extends ExactJson> = { readonly value: T; readonly warnings: readonly string[] };

/** Maximum number of warnings; one more counts the rest. */
const WARNINGS_MAX = 100;
const PATH_LENGTH_MAX = 200;

/**
 * Removes members and items that may hold secrets, addresses, or names of rows of an organization (contract of workspace views, sanitizer). A second pass
 * changes nothing. The value is not deeply nested.
 */
export function sanitize<T extends ExactJson>(value: T): Sanitized<T> {
  const warnings: string[] = [];
  let removed = 0;
  const warn = (path: readonly (string | number)[], why: string): void => {
    removed += 1;
    if (removed <= WARNINGS_MAX) warnings.push(`${writePath(path)} was removed: ${why}`);
  };
  const clean = (part: ExactJson, path: readonly (string | number)[]): ExactJson => {
    if (Array.isArray(part)) {
      return (part as readonly ExactJson[]).flatMap((item, i) => {
        const at = [...path, i];
        if (!isForbiddenText(item)) return [clean(item, at)];
        warn(at, "its value may be an address or a secret");
        return [];
      });
    }
    if (!isExactObject(part)) return part;
    const kept: Record<string, ExactJson> = {};
    for (const [key, member] of Object.entries(part)) {
      const at = [...path, key];
      if (isForbiddenKey(key)) warn(at, "its name is that of a secret or of a row of an organization");
      else if (isForbiddenText(member)) warn(at, "its value may be an address or a secret");
      else kept[key] = clean(member, at);
    }
    return kept;
  };
  const cleaned = clean(value, []) as T;
  if (removed > WARNINGS_MAX) warnings.push(`${removed - WARNINGS_MAX} more were removed`);
  return { value: cleaned, warnings };
}

function isForbiddenKey(key: string): boolean {
  const plain = key.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  return OWN_KEYS.has(plain) || SECRET_PARTS.some((part) => plain.includes(part));
}

function isForbiddenText(value: ExactJson): boolean {
  return typeof value === "string" && (FORBIDDEN_BEGINNING.test(value) || FORBIDDEN_INSIDE.test(value));
}

/** Writes a place as a JSON path: `$.a[0]["b c"]`. */
function writePath(path: readonly (string | number)[]): string {
  const text = path.map((part) =>
    typeof part === "string" && /^[A-Za-z_]\w*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`,
  );
  const whole = `$${text.join("")}`;
  return whole.length <= PATH_LENGTH_MAX ? whole : `${whole.slice(0, PATH_LENGTH_MAX)}…`;
}
