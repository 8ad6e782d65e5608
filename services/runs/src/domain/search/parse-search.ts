import { NODES_MAX, QUERY_BYTES_MAX, REGEXES_MAX, TERMS_MAX } from "./bounds.ts";
import { isComplete } from "./completeness.ts";
import { searchFault } from "./fault.ts";
import { literalFallback } from "./literal-fallback.ts";
import { parse, type Syntax } from "./parse.ts";
import { termNode, type RegexCheck } from "./term.ts";
import type { TermToken } from "./token.ts";
import { tokenize } from "./tokenize.ts";
import type { SearchTree } from "./tree.ts";
import { trimWhiteSpace } from "./white-space.ts";

/**
 * Reads a run search query (API specification, Run search). White space around it does not count;
 * a blank query is none: undefined. An incomplete one, even when it is also invalid, is searched as
 * literal text. Of several faults the length comes first, then those of the whole query (terms,
 * depth, nodes), then the leftmost term's.
 *
 * `checkRegex` is asked at most once for each regular expression, in the order of the query, and at
 * most four times.
 * @throws run_search_invalid with field `q` and a position
 */
export function parseSearch(q: string, checkRegex: RegexCheck): SearchTree | undefined {
  const text = trimWhiteSpace(q);
  if (text === "") return undefined;
  if (Buffer.byteLength(text, "utf8") > QUERY_BYTES_MAX) throw searchFault(`longer than ${QUERY_BYTES_MAX} bytes`, 1);
  const tokens = tokenize(text);
  if (tokens === undefined || !isComplete(tokens)) return literalFallback(text);

  const terms = tokens.filter((token) => token.kind === "term");
  if (terms.length > TERMS_MAX) throw searchFault(`more than ${TERMS_MAX} terms`, 1);
  const syntax = parse(tokens);
  if (countNodes(syntax) > NODES_MAX) throw searchFault(`more than ${NODES_MAX} terms and operators`, 1);

  const tooMany = terms.filter((term) => term.form === "regex")[REGEXES_MAX];
  return mapTerms(syntax, (term) => {
    if (term === tooMany) throw searchFault(`more than ${REGEXES_MAX} regular expressions`, term.column);
    return termNode(term, checkRegex);
  });
}

/** Each term, each NOT and each list is one node. */
function countNodes(syntax: Syntax): number {
  if (syntax.kind === "term") return 1;
  if (syntax.kind === "not") return 1 + countNodes(syntax.node);
  return syntax.nodes.reduce((count, node) => count + countNodes(node), 1);
}

/** The tree of the same structure; terms are asked for from left to right. */
function mapTerms(syntax: Syntax, term: (token: TermToken) => SearchTree): SearchTree {
  if (syntax.kind === "term") return term(syntax);
  if (syntax.kind === "not") return { kind: "not", node: mapTerms(syntax.node, term) };
  return { kind: syntax.kind, nodes: syntax.nodes.map((node) => mapTerms(node, term)) };
}
