import { badRequest } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import { textOfToken } from "@tidemark/values";
import { hasAtMost } from "../content/read-values.rules.ts";

const { textCharactersMax } = IMPORT_LIMITS;

// TC39 "JSON.parse source text access": Node has it, the compiler's library does not yet.
const json = JSON as unknown as { isRawJSON(value: unknown): boolean };

/**
 * Redacts a parsed body, makes texts of bare tokens, and refuses texts and keys that are too long. Changes the body in place and returns it: copying a large one would take as
 * long again. @throws bad_request
 */
export function cleanBody<Body extends object>(body: Body): Body {
  const keys = new Map<string, boolean>();
  const texts = new Map<string, string>();
  const isSecret = (key: string): boolean => {
    let secret = keys.get(key);
    if (secret === undefined) {
      requireLength(key);
      secret = isSecretKey(key);
      keys.set(key, secret);
    }
    return secret;
  };
  const clean = (text: string): string => {
    if (text.length > REMEMBERED_LENGTH_MAX) return cleanText(text);
    let cleaned = texts.get(text);
    if (cleaned === undefined) {
      cleaned = cleanText(text);
      if (texts.size < REMEMBERED_MAX) texts.set(text, cleaned);
    }
    return cleaned;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return clean(value);
    if (typeof value !== "object" || value === null || json.isRawJSON(value)) return value;
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const item: unknown = value[i];
        if (typeof item === "string") value[i] = clean(item);
        else if (typeof item === "symbol") value[i] = textOfToken(item);
        else if (typeof item === "object" && item !== null) walk(item);
      }
      return value;
    }
    const object = value as Record<string, unknown>;
    for (const key in object) {
      const part = object[key];
      if (isSecret(key)) {
        // A value of any type: a secret may be a number or a list of texts.
        if (part !== null) object[key] = REDACTED;
      } else if (typeof part === "string") object[key] = clean(part);
      else if (typeof part === "symbol") object[key] = textOfToken(part);
      else if (typeof part === "object" && part !== null) walk(part);
    }
    return value;
  };
  return walk(body) as Body;
}

/** Ids and keys repeat thousands of times in a body; longer texts do not. */
const REMEMBERED_LENGTH_MAX = 64;
const REMEMBERED_MAX = 10_000;

function cleanText(text: string): string {
  requireLength(text);
  return redactText(text);
}

function requireLength(text: string): void {
  if (hasAtMost(text, textCharactersMax)) return;
  throw badRequest(`texts and keys must have at most ${textCharactersMax} characters`);
}

/** The replacement for a secret. */
const REDACTED = "[REDACTED]";

const SECRET_KEYS = new Set([
  "token",
  "auth_token",
  "access_token",
  "refresh_token",
  "id_token",
  "api_token",
  "api_key",
  "apikey",
  "secret",
  "secret_key",
  "client_secret",
  "password",
  "passwd",
  "access_key",
  "private_key",
  "authorization",
]);
const SECRET_ENDS = ["_token", "_api_key", "_secret", "_password", "_private_key"];

/** Secrets by their form: the whole match is removed. Each is bounded or ends at a blank, so that matching takes linear time. */
const SECRETS = [
  /bearer\s{1,16}[A-Za-z0-9._~+/=-]{12,}/gi,
  /\b(?:api[_-]?key|token|secret|password)=[^&\s]+/gi,
  /\bAKIA[0-9A-Z]{16}/g,
  /\binstantml_[A-Za-z0-9_=-]{8,}/g,
  /\btm_[A-Za-z0-9_=-]{8,}/g,
];
const PEM_BEGIN = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;
const PEM_END = /-----END [A-Z ]{0,40}PRIVATE KEY-----/;
/** The password of `scheme://user:password@host`. */
const URL_PASSWORD = /([a-z][a-z0-9+.-]{0,31}:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,1024}@/gi;
/** Parameters of signed URLs. */
const SIGNED_PARAMETER =
  /([?&](?:X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token|AWSAccessKeyId|X-Goog-Credential|X-Goog-Signature|X-Goog-SignedHeaders|X-Goog-Algorithm|X-Goog-Expires|sig|signature|token|access_token|se|sp|spr|sv|sr|skoid|sktid|skt|ske|sks|skv)=)[^&\s]+/gi;
/** Every secret recognized by its form has one of these characters; most texts have none. */
const SUSPICIOUS = /[=@\s]|AKIA|instantml_|tm_|-----BEGIN/;

/** Returns whether the value of this key is a secret. */
export function isSecretKey(key: string): boolean {
  const normalized = key.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
  const plain = normalized.replace(/^_/, "").replace(/_$/, "");
  return SECRET_KEYS.has(plain) || SECRET_ENDS.some((end) => plain.endsWith(end));
}

/** Returns a text without the secrets in it (contract of imports, and our own credentials). */
export function redactText(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  let redacted = redactPem(text);
  for (const secret of SECRETS) redacted = redacted.replaceAll(secret, REDACTED);
  return redacted.replaceAll(URL_PASSWORD, `$1${REDACTED}@`).replaceAll(SIGNED_PARAMETER, `$1${REDACTED}`);
}

/** Private keys, from their start to their end or to the end of the text. */
function redactPem(text: string): string {
  let kept = "";
  let rest = text;
  for (let begin = PEM_BEGIN.exec(rest); begin !== null; begin = PEM_BEGIN.exec(rest)) {
    kept += rest.slice(0, begin.index) + REDACTED;
    const after = rest.slice(begin.index + begin[0].length);
    const end = PEM_END.exec(after);
    rest = end === null ? "" : after.slice(end.index + end[0].length);
  }
  return kept + rest;
}
