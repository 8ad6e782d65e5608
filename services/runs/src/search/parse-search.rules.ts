import {
  isComplete,
  isStorable,
  lowerAscii,
  splitOnWhiteSpace,
  tokenize,
  trimWhiteSpace,
  type TermToken,
} from "@tidemark/values/run-search";
import { DISPLAY_STATUSES } from "@tidemark/run-state";
import {
  literal,
  NODES_MAX,
  QUERY_BYTES_MAX,
  REGEX_BYTES_MAX,
  REGEXES_MAX,
  searchFault,
  TERMS_MAX,
} from "./words.rules.ts";
import { parse, type Syntax } from "./syntax.rules.ts";
import { FINDS_NOTHING, type SearchTree } from "./tree.rules.ts";

/**
 * Parses a run search query (API specification, Run search). White space around it is ignored; a blank
 * query gives undefined. An incomplete query, even if it is also invalid, is searched as literal text.
 * Of several faults, the length is reported first, then the whole query (terms, depth, nodes), then the
 * leftmost term.
 *
 * Calls `checkRegex` once for each regular expression, from left to right, and at most four times.
 * @throws run_search_invalid with field `q` and a position
 */
export function parseSearch(q: string, checkRegex: RegexCheck): SearchTree | undefined {
  const text = trimWhiteSpace(q);
  if (text === "") return undefined;
  if (Buffer.byteLength(text, "utf8") > QUERY_BYTES_MAX) throw searchFault(`longer than ${QUERY_BYTES_MAX} bytes`, 1);
  const tokens = tokenize(text);
  if (tokens === undefined || !isComplete(tokens)) return literalFallback(text);

  const terms = tokens.filter((token) => token.kind === "term");
  const filters = tokens.filter(({ kind }) => kind === "filter").length;
  if (terms.length + filters > TERMS_MAX) throw searchFault(`more than ${TERMS_MAX} terms`, 1);
  const syntax = parse(tokens);
  if (countNodes(syntax) > NODES_MAX) throw searchFault(`more than ${NODES_MAX} terms and operators`, 1);

  const tooMany = terms.filter((term) => term.form === "regex")[REGEXES_MAX];
  return mapTerms(syntax, (term) => {
    if (term === tooMany) throw searchFault(`more than ${REGEXES_MAX} regular expressions`, term.column);
    return termNode(term, checkRegex);
  });
}

/** Counts each term, each NOT and each list as one node. */
function countNodes(syntax: Syntax): number {
  if (syntax.kind === "term" || syntax.kind === "filter") return 1;
  if (syntax.kind === "not") return 1 + countNodes(syntax.node);
  return syntax.nodes.reduce((count, node) => count + countNodes(node), 1);
}

/** Returns a tree of the same structure; calls `term` from left to right. */
function mapTerms(syntax: Syntax, term: (token: TermToken) => SearchTree): SearchTree {
  if (syntax.kind === "term") return term(syntax);
  if (syntax.kind === "filter") return syntax;
  if (syntax.kind === "not") return { kind: "not", node: mapTerms(syntax.node, term) };
  return { kind: syntax.kind, nodes: syntax.nodes.map((node) => mapTerms(node, term)) };
}

/** Returns how the regular expression engine judges a pattern: usable, invalid, or matched by empty text. */
export type RegexCheck = (pattern: string) => "ok" | "invalid" | "matches_empty";

/**
 * Returns the node of a term of a complete query. Only a regular expression that is short enough is
 * checked, once; a phrase keeps the spaces at its ends.
 * @throws run_search_invalid at the term's column
 */
function termNode(term: TermToken, checkRegex: RegexCheck): SearchTree {
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
  if (!isStorable(pattern)) return FINDS_NOTHING;
  const answer = checkRegex(pattern);
  if (answer === "matches_empty") throw searchFault("regular expression matches empty text", column);
  if (answer === "invalid") throw searchFault("invalid regular expression", column);
  return { kind: "regex", field, pattern };
}

/**
 * Returns the tree of an incomplete query: every piece between white space, including operators and
 * punctuation, is a text that must occur somewhere. `text` is trimmed and not empty. Only the length of
 * the query bounds the number of pieces, to 256.
 */
function literalFallback(text: string): SearchTree {
  const [first = "", ...others] = splitOnWhiteSpace(text);
  const node = literal("all", first);
  return others.length === 0 ? node : { kind: "and", nodes: [node, ...others.map((piece) => literal("all", piece))] };
}
