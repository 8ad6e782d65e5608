/** Replaces text that was removed. */
export const censored = "[redacted]";

/** Names of fields whose value is always a secret. */
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
 * Patterns of credentials in a text: Tidemark's own opaque tokens (`tm_...`), the value of an `Authorization` header, and
 * the password inside a URL. No pattern matches a quote, a backslash or a blank, so a line of JSON stays valid.
 */
const secretTexts: readonly (readonly [RegExp, string])[] = [
  [/tm_[A-Za-z0-9_-]{8,}/g, `tm_${censored}`],
  [/\b(Bearer\s+)[^\s"'\\,;]+/gi, `$1${censored}`],
  [/\b(Basic\s+)[A-Za-z0-9+/=]{8,}/g, `$1${censored}`],
  [/(\w:\/\/[^\s"'\\/:@]*:)[^\s"'\\/@]+@/g, `$1${censored}@`],
];

/** Returns the text with everything that looks like a credential censored. A serialized line of JSON stays valid. */
export function redactText(text: string): string {
  let result = text;
  for (const [pattern, replacement] of secretTexts) result = result.replace(pattern, replacement);
  return result;
}

/** An error as it is logged. `cause` is described the same way, five levels deep at most. */
export type ErrorDescription = {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  /** The reason of an application error. */
  readonly reason?: string;
  /** A system or SQLSTATE code. */
  readonly code?: string;
  readonly cause?: unknown;
};

const causesMax = 5;

/**
 * Describes a thrown value. Takes only a fixed set of properties, because others may contain rows, statements or request
 * bodies (`detail` of a PostgreSQL error quotes the row). A value that is not an error is written as text.
 */
export function describeError(thrown: unknown, depth = 0): ErrorDescription {
  // By its shape, because errors come from other realms and from several copies of a package.
  if (typeof thrown !== "object" || thrown === null || !("message" in thrown))
    return { type: typeof thrown, message: describeValue(thrown) };
  const { name, message, stack, reason, code, cause } = thrown as Record<string, unknown>;
  return {
    type: typeof name === "string" ? name : "Error",
    message: describeValue(message),
    ...(typeof stack === "string" && { stack }),
    ...(typeof reason === "string" && { reason }),
    ...((typeof code === "string" || typeof code === "number") && { code: String(code) }),
    ...(cause !== undefined && depth < causesMax && { cause: describeError(cause, depth + 1) }),
  };
}

function describeValue(value: unknown): string {
  return typeof value === "object" && value !== null ? Object.prototype.toString.call(value) : String(value);
}
