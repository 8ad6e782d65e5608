export { checkRegex, compileRegex } from "./compile-regex.ts";
export type { Regex } from "./compile-regex.ts";
export type { Literals } from "./literals.ts";
export { isRegexError } from "./regex-error.ts";
export type { RegexError, RegexFault } from "./regex-error.ts";
