import { RE2JS, RE2JSException } from "re2js";
import { findLiterals, type Literals } from "./literals.ts";

/** A compiled regular expression. It caches what it learns from texts, in some 10 MB. */
export type Regex = {
  /**
   * Returns whether the pattern matches anywhere in the text. Takes time in proportion to the text: 5 to 10 ns per
   * character for most patterns, 10 µs and more for those that need too many states. Run it where it can be ended.
   */
  readonly test: (text: string) => boolean;
  /** Text that every match of the pattern must contain; {@link findLiterals} names the two characters left out. */
  readonly literals: Literals;
};

/** Why a pattern is refused: it is not RE2 syntax, or it matches the empty text, and so every text. */
export type RegexFault = "invalid" | "matches_empty";

/** The only error of this package, recognized by its `name`. Its text never holds the pattern. */
export type RegexError = Error & { readonly name: "RegexError"; readonly fault: RegexFault };

/**
 * Compiles a pattern of RE2's syntax with RE2's meaning: no look-around and no back-references; letters match in any case
 * by Unicode's simple folding; `^` and `$` are the ends of the text and `.` is anything but a newline unless the pattern
 * says otherwise; `\d`, `\w`, `\s` and `\b` are of ASCII; counts go up to 1,000. A text is read as code points; a
 * lone surrogate is one. Most patterns of 128 bytes compile in a few milliseconds, the worst in about a
 * second.
 * @throws RegexError
 */
export function compileRegex(pattern: string): Regex {
  const regex = compile(pattern);
  return { test: (text) => regex.test(text), literals: findLiterals(pattern) };
}

/** Returns whether {@link compileRegex} takes a pattern, or why it does not. */
export function checkRegex(pattern: string): "ok" | RegexFault {
  try {
    compile(pattern);
    return "ok";
  } catch (error) {
    if (!isRegexError(error)) throw error;
    return error.fault;
  }
}

function compile(pattern: string): RE2JS {
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    if (error instanceof RE2JSException) throw regexError("invalid", error);
    throw error;
  }
  if (regex.test("")) throw regexError("matches_empty");
  return regex;
}

const texts: Readonly<Record<RegexFault, string>> = {
  invalid: "the regular expression is not valid",
  matches_empty: "the regular expression matches the empty text",
};

function regexError(fault: RegexFault, cause?: unknown): RegexError {
  return Object.assign(new Error(texts[fault], { cause }), { name: "RegexError" as const, fault });
}

/** Recognizes a {@link RegexError} by its name, so that it is recognized across copies of this package. */
export function isRegexError(error: unknown): error is RegexError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "RegexError";
}
