import { badRequest, notFound } from "@tidemark/errors";
import { object, required, withDefault } from "../../../api/fields/field.ts";
import { anyText, key } from "../fields.ts";

const VALUE_CHARACTERS_MAX = 100_000;

/** A tag of a registered model or of a version; a longer value is refused. */
export const registryTag = object({
  key,
  value: withDefault(
    required<string>({}, (value, name) => {
      const text = anyText().check(value, name);
      if (text.length <= VALUE_CHARACTERS_MAX) return text;
      throw badRequest(`${name} must have at most ${VALUE_CHARACTERS_MAX} characters`, name);
    }),
    "",
  ),
});

/** Tags of one request. */
export const TAGS_MAX = 100;

/** Returns tags by key; the last value of a key counts. */
export function tagsByKey(sent: readonly { readonly key: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(sent.map((item) => [item.key, item.value]));
}

/** Reads a text that must not be empty. @throws bad_request */
export function requireText(fields: Readonly<Record<string, unknown>>, name: string): string {
  const text = anyText().check(fields[name] ?? "", name);
  if (text === "") throw badRequest(`${name} is required`, name);
  return text;
}

/** Reads the number of a version. @throws bad_request without one or where it is not a number, not_found for one that no version has */
export function requireNumber(fields: Readonly<Record<string, unknown>>): number {
  const sent = fields["version"];
  const text = typeof sent === "number" ? String(sent) : sent;
  if (typeof text !== "string" || !/^\d+$/.test(text)) throw badRequest("version must be a whole number", "version");
  const number = Number(text);
  if (number >= 2 ** 32) throw notFound("model version");
  return number;
}
