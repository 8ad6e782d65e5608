/** Stands in the place of whatever was taken out. */
export const censored = "[redacted]";

/** Names of fields whose value is a secret, whatever it looks like. */
const secretNames = [
  "api_key",
  "apiKey",
  "authorization",
  "Authorization",
  "bootstrap_token",
  "bootstrapToken",
  "cookie",
  "Cookie",
  "databaseUrl",
  "password",
  "secret",
  "secretKey",
  "session_token",
  "sessionToken",
  "set-cookie",
  "token",
];

/** The secret names at the top of an entry and one and two levels below, in pino's path notation. */
export const secretPaths: readonly string[] = secretNames.flatMap((name) => {
  const last = /^\w+$/.test(name) ? `.${name}` : `["${name}"]`;
  return [last.replace(/^\./, ""), `*${last}`, `*.*${last}`];
});

/**
 * What looks like a credential anywhere in a text: our own opaque tokens (`tm_...`), the value of an `Authorization`
 * header, and the password inside a URL. None of the patterns crosses a quote, a backslash or a blank, so a line of
 * JSON stays valid.
 */
const secretTexts: readonly (readonly [RegExp, string])[] = [
  [/tm_[A-Za-z0-9_-]{8,}/g, `tm_${censored}`],
  [/\b(Bearer\s+)[^\s"'\\,;]+/gi, `$1${censored}`],
  [/\b(Basic\s+)[A-Za-z0-9+/=]{8,}/g, `$1${censored}`],
  [/(\w:\/\/[^\s"'\\/:@]*:)[^\s"'\\/@]+@/g, `$1${censored}@`],
];

/** The text with everything that looks like a credential censored. Also valid on a serialised line of JSON. */
export function redactText(text: string): string {
  let result = text;
  for (const [pattern, replacement] of secretTexts) result = result.replace(pattern, replacement);
  return result;
}
