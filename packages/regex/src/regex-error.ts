/**
 * Why a pattern is refused: it is not RE2 syntax, it matches the empty text, or no engine here could evaluate it
 * within the bound on time that every accepted pattern keeps.
 */
export type RegexFault = "invalid" | "matches_empty" | "too_large";

/** The one error of this package, told by its `name`. Its text never holds the pattern. */
export type RegexError = Error & { readonly name: "RegexError"; readonly fault: RegexFault };

const texts: Readonly<Record<RegexFault, string>> = {
  invalid: "the regular expression is not valid",
  matches_empty: "the regular expression matches the empty text",
  too_large: "the regular expression is too large",
};

/** Makes a {@link RegexError}. */
export function regexError(fault: RegexFault, cause?: unknown): RegexError {
  return Object.assign(new Error(texts[fault], { cause }), { name: "RegexError" as const, fault });
}

/** Tells a {@link RegexError} by its name, so that it is recognised across copies of this package. */
export function isRegexError(error: unknown): error is RegexError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "RegexError";
}
