export { checkRegex, compileRegex, type Regex } from "./compile-regex.ts";
export type { Literals } from "./literals.ts";
