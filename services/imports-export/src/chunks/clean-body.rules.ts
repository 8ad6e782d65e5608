import { badRequest } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import { hasAtMost } from "../content/characters.rules.ts";
import { isSecretKey, REDACTED, redactText } from "./redact.rules.ts";

const { textCharactersMax } = IMPORT_LIMITS;

// TC39 "JSON.parse source text access": Node has it, the compiler's library does not yet.
const json = JSON as unknown as { isRawJSON(value: unknown): boolean };

/**
 * Redacts a parsed body and refuses texts and keys that are too long. Changes the body in place and returns it: copying a large one would take as
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
