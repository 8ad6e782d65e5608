import { RE2JS, RE2JSException, RE2Set } from "re2js";

import { regexError } from "./regex-error.ts";
import { createRuneSets, MAX_RUNE, type RuneSet, type RuneSets } from "./rune-set.ts";
import { assert, assertion, concat, either, empty, maybe, never, plus, run, type Node } from "./tree.ts";

/**
 * A node of re2js's syntax tree as far as we read it. Its package declares the trees of a set as `any`, so the shape is
 * checked here; `op` counts through the names in `constructor.Op`, in which a node's children are under `subs`.
 */
type SyntaxNode = {
  readonly op: number;
  readonly flags: number;
  readonly subs: readonly unknown[];
  readonly runes: ArrayLike<number>;
};

/** Set in `flags` of a literal that matches every case of its characters. */
const FOLD_CASE = 1;

function isSyntaxNode(value: unknown): value is SyntaxNode {
  if (typeof value !== "object" || value === null) return false;
  const { op, flags, subs, runes } = value as Partial<Record<keyof SyntaxNode, unknown>>;
  const listed = Array.isArray(runes) || ArrayBuffer.isView(runes);
  return Number.isInteger(op) && Number.isInteger(flags) && Array.isArray(subs) && listed;
}

function opName(node: SyntaxNode): string {
  const names: unknown = Reflect.get(node.constructor, "Op");
  const name: unknown = typeof names === "object" && names !== null ? Reflect.get(names, node.op) : undefined;
  if (typeof name !== "string") throw new Error("re2js names its syntax nodes in another way than it did");
  return name;
}

/**
 * The parsed and simplified tree, in which every counted repetition is already written out with shared children. A set
 * only parses what is added to it; nothing is compiled, which for a pattern of 128 bytes could take 100 ms.
 */
function syntaxTree(pattern: string): SyntaxNode {
  const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE);
  try {
    set.add(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) throw regexError("invalid", error);
    throw error;
  }
  const trees: readonly unknown[] = set.regexps;
  return checked(trees[0]);
}

function checked(value: unknown): SyntaxNode {
  if (!isSyntaxNode(value)) throw new Error("re2js has another syntax tree than it had");
  return value;
}

/** Every simple case form of a character: a class of it and of a character without cases, so that it stays a class. */
function caseForms(rune: number, sets: RuneSets): RuneSet {
  if (rune === MAX_RUNE) return sets.of([rune, rune]);
  const { runes } = syntaxTree(`[\\x{${rune.toString(16)}}\\x{${MAX_RUNE.toString(16)}}]`);
  const ranges = Array.from(runes);
  if (ranges.length < 4 || ranges.at(-1) !== MAX_RUNE) throw new Error("re2js has another form of classes than it had");
  return sets.of(ranges.slice(0, -2));
}

function createConverter(): (node: SyntaxNode, children: readonly Node[]) => Node {
  const sets = createRuneSets();
  const folded = new Map<number, RuneSet>();
  const literal = (rune: number, flags: number): Node => {
    if ((flags & FOLD_CASE) === 0) return run(sets.of([rune, rune]), 1, 1);
    const forms = folded.get(rune) ?? caseForms(rune, sets);
    folded.set(rune, forms);
    return run(forms, 1, 1);
  };
  return (node, children) => {
    const name = opName(node);
    const only = children[0] ?? empty;
    switch (name) {
      case "NO_MATCH":
        return never;
      case "EMPTY_MATCH":
        return empty;
      case "LITERAL":
        return concat(Array.from(node.runes, (rune) => literal(rune, node.flags)));
      case "CHAR_CLASS":
        return node.runes.length === 0 ? never : run(sets.of(node.runes), 1, 1);
      case "ANY_CHAR":
        return run(sets.of([0, MAX_RUNE]), 1, 1);
      case "ANY_CHAR_NOT_NL":
        return run(sets.of([0, 9, 11, MAX_RUNE]), 1, 1);
      case "BEGIN_LINE":
        return assert(assertion.lineBegin);
      case "END_LINE":
        return assert(assertion.lineEnd);
      case "BEGIN_TEXT":
        return assert(assertion.textBegin);
      case "END_TEXT":
        return assert(assertion.textEnd);
      case "WORD_BOUNDARY":
        return assert(assertion.wordBoundary);
      case "NO_WORD_BOUNDARY":
        return assert(assertion.noWordBoundary);
      case "CAPTURE":
        return only;
      case "STAR":
        return maybe(plus(only));
      case "PLUS":
        return plus(only);
      case "QUEST":
        return maybe(only);
      case "CONCAT":
        return concat(children);
      case "ALTERNATE":
        return either(children);
      default:
        throw new Error(`re2js has a syntax node that we do not know: ${name}`);
    }
  };
}

/**
 * Reads a pattern of RE2's syntax; letters match in any case by Unicode's simple folding unless the pattern says `(?-i)`.
 * @throws RegexError `invalid`
 */
export function parse(pattern: string): Node {
  const convert = createConverter();
  const done = new Map<unknown, Node>();
  // Written-out repetitions share children and nest up to a thousand deep, so: each node once, and no recursion.
  const path: { node: SyntaxNode; next: number }[] = [];
  const root = syntaxTree(pattern);
  path.push({ node: root, next: 0 });
  for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
    const { node } = frame;
    const child = node.subs[frame.next];
    if (frame.next < node.subs.length) {
      frame.next++;
      if (!done.has(child)) path.push({ node: checked(child), next: 0 });
    } else {
      done.set(
        node,
        convert(
          node,
          node.subs.map((sub) => done.get(sub)!),
        ),
      );
      path.pop();
    }
  }
  return done.get(root)!;
}
