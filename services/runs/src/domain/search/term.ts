import { DISPLAY_STATUSES } from "@tidemark/run-state";
import { REGEX_BYTES_MAX } from "./bounds.ts";
import { searchFault } from "./fault.ts";
import { isStorable, literal, lowerAscii } from "./literal.ts";
import type { TermToken } from "./token.ts";
import { FINDS_NOTHING, type SearchTree } from "./tree.ts";
import { trimWhiteSpace } from "./white-space.ts";

/** What the engine of regular expressions says of a pattern: usable, not one of its patterns, or one that empty text matches. */
export type RegexCheck = (pattern: string) => "ok" | "invalid" | "matches_empty";

/**
 * What a term of a complete query looks for. A regular expression is checked once, and only one that
 * is short enough; a phrase keeps the spaces at its ends.
 * @throws run_search_invalid at the term's column
 */
export function termNode(term: TermToken, checkRegex: RegexCheck): SearchTree {
  if (term.form === "regex") return regexNode(term, checkRegex);
  const { field, value } = term;
  if (term.form === "phrase" && trimWhiteSpace(value) === "") throw searchFault("empty phrase", term.column);
  if (field === "status") return statusNode(term);
  if (field !== "tag" && field !== "id") return literal(field, value);
  if (!isStorable(value)) return FINDS_NOTHING;
  return field === "tag" ? { kind: "tag", tag: lowerAscii(value) } : { kind: "id", prefix: lowerAscii(value) };
}

function statusNode({ value, column }: TermToken): SearchTree {
  const status = DISPLAY_STATUSES.find((known) => known === value);
  if (status === undefined) throw searchFault("unknown status", column);
  return { kind: "status", status };
}

function regexNode({ field, value: pattern, column }: TermToken, checkRegex: RegexCheck): SearchTree {
  if (field === "id") throw searchFault("id takes no regular expression", column);
  if (Buffer.byteLength(pattern, "utf8") > REGEX_BYTES_MAX) {
    throw searchFault(`regular expression longer than ${REGEX_BYTES_MAX} bytes`, column);
  }
  const answer = isStorable(pattern) ? checkRegex(pattern) : "invalid";
  if (answer === "matches_empty") throw searchFault("regular expression matches empty text", column);
  if (answer === "invalid") throw searchFault("invalid regular expression", column);
  return { kind: "regex", field, pattern };
}
