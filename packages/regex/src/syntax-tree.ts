import { RE2JS, RE2Set } from "re2js";

/**
 * A node of re2js's syntax tree, as far as we read it. The declarations of re2js call the trees of a set `any`, so their
 * shape is checked here.
 */
export type SyntaxNode = {
  /** Number of the node's kind; see {@link kindOf}. */
  readonly op: number;
  readonly flags: number;
  readonly subs: readonly unknown[];
  /** Code points of a literal; ranges `[lo, hi, lo, hi, …]`, both inclusive, of a class. */
  readonly runes: ArrayLike<number>;
};

/** Bit of `flags` of a literal that matches every case of its characters. */
const FOLD_CASE = 1;

/** The highest code point of Unicode. */
const MAX_RUNE = 0x10_ff_ff;

/**
 * Returns the tree of a valid pattern whose letters match in any case. It is simplified: every counted repetition is
 * written out, with shared children. A set only parses the patterns added to it, so nothing is compiled.
 */
export function parseSyntax(pattern: string): SyntaxNode {
  const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE);
  set.add(pattern);
  return checked((set.regexps as readonly unknown[])[0]);
}

function checked(value: unknown): SyntaxNode {
  if (!isSyntaxNode(value)) throw new Error("re2js has another syntax tree than it had");
  return value;
}

function isSyntaxNode(value: unknown): value is SyntaxNode {
  if (typeof value !== "object" || value === null) return false;
  const { op, flags, subs, runes } = value as Partial<Record<keyof SyntaxNode, unknown>>;
  const listed = Array.isArray(runes) || ArrayBuffer.isView(runes);
  return Number.isInteger(op) && Number.isInteger(flags) && Array.isArray(subs) && listed;
}

/** Returns the name of a node's kind, such as `CONCAT`: re2js lists the names in `Op` of the node's class. */
export function kindOf(node: SyntaxNode): string {
  const names: unknown = Reflect.get(node.constructor, "Op");
  const name: unknown = typeof names === "object" && names !== null ? Reflect.get(names, node.op) : undefined;
  if (typeof name !== "string") throw new Error("re2js names its syntax nodes in another way than it did");
  return name;
}

/**
 * Returns the ranges of every case of a literal's character; of an ASCII character, or where case counts, the character
 * alone.
 */
export function casesOf(rune: number, { flags }: SyntaxNode): ArrayLike<number> {
  if ((flags & FOLD_CASE) === 0 || rune <= 0x7f || rune === MAX_RUNE) return [rune, rune];
  // A class of two characters stays a class even if one of them has no other case.
  const { runes } = parseSyntax(`[\\x{${rune.toString(16)}}\\x{${MAX_RUNE.toString(16)}}]`);
  const ranges = Array.from(runes);
  if (ranges.length < 4 || ranges.at(-1) !== MAX_RUNE) throw new Error("re2js has another form of classes than it had");
  return ranges.slice(0, -2);
}

/**
 * Combines a tree from its leaves to its root. Each node is combined once, wherever it is shared, and without recursion,
 * because written-out repetitions nest up to a thousand deep.
 */
export function foldSyntax<T>(root: SyntaxNode, combine: (node: SyntaxNode, children: readonly T[]) => T): T {
  const done = new Map<unknown, T>();
  const path = [{ node: root, next: 0 }];
  for (let frame = path.at(-1); frame !== undefined; frame = path.at(-1)) {
    const { node } = frame;
    const child = node.subs[frame.next];
    if (frame.next < node.subs.length) {
      frame.next++;
      if (!done.has(child)) path.push({ node: checked(child), next: 0 });
    } else {
      const children = node.subs.map((sub) => done.get(sub)!);
      done.set(node, combine(node, children));
      path.pop();
    }
  }
  return done.get(root)!;
}
