import { trimWhiteSpace, type Column } from "@tidemark/values/run-search";
import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { isAppError } from "@tidemark/errors";
import { parseSearch, type RegexCheck } from "./parse-search.rules.ts";
import { DEPTH_MAX, NODES_MAX, QUERY_BYTES_MAX, REGEXES_MAX, TERMS_MAX } from "./words.rules.ts";
import type { RegexField, SearchTree, TextField } from "./tree.rules.ts";
import { writeSearch } from "./written-search.fixture.ts";

const engine: RegexCheck = (pattern) =>
  pattern.endsWith("*") ? "matches_empty" : pattern.endsWith("(") ? "invalid" : "ok";

/** Pieces of queries, so that most texts made of them are meaningful. */
const piece = fc.constantFrom(
  ...Array.from('()"\\/-: \t\u{3000}\u{85}\u{FEFF}\u{1F600}é\0\u{D800}a*'),
  ...'AND OR NOT re:/ re:/a/ tag: status: status:failed id: id:5b0c name:x word \\" (( ))'.split(" "),
  " AND ",
  " OR ",
  " NOT ",
  '"a b"',
);
/** Pieces that are complete by themselves, valid or not. */
const valid = ["a", "\u{1F600}", '"a b"', "tag:x", "-status:failed", "NOT a", "re:/a/", "name:re:/a/", "id:5b0c", "\0"];
const nested = ["a OR b", "-(a OR b)", "(NOT (NOT (a)))", "((((((((a))))))))", "NOT ((((((((a))))))))"];
const invalid = ["status:bad", 'name:""', "re:/a*/", "tag:re:/(/", "id:re:/a/"];
const filters = ["config.a=1", '-metrics.a.best<="x y"', 'config.a="', "attributes.a>", "metrics.=1", 'config.a="x"y'];
const wholePiece = fc.constantFrom(...valid, ...nested, ...invalid, ...filters);
const query = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(" ")),
  fc.array(wholePiece, { maxLength: 8 }).map((pieces) => pieces.join(" ")),
  fc.array(wholePiece, { maxLength: 40, size: "max" }).map((pieces) => pieces.join(" ")),
);

/** All nodes of a tree. */
function nodesOf(tree: SearchTree): SearchTree[] {
  if (tree.kind === "and" || tree.kind === "or") return [tree, ...tree.nodes.flatMap(nodesOf)];
  return tree.kind === "not" ? [tree, ...nodesOf(tree.node)] : [tree];
}

const isTerm = ({ kind }: SearchTree) => kind !== "and" && kind !== "or" && kind !== "not";

const textField = fc.constantFrom<TextField>("all", "name", "project", "notes", "config", "metadata");
const regexField = fc.oneof(textField, fc.constantFrom<RegexField>("tag", "status"));
const value = (minLength: number) =>
  fc
    .string({
      unit: fc.constantFrom(...Array.from('ab1_%-:()/"\\. \u{3000}é\u{1F600}\u{212A}')),
      minLength,
      maxLength: 5,
    })
    .filter((text) => trimWhiteSpace(text) !== "");
const pattern = fc
  .array(fc.constantFrom(...Array.from('aA1 ./|"()é\u{1F600}'), ...[`\\`, `d`, `"`].map((char) => `\\${char}`)), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => `${parts.join("")}x`);

const term: fc.Arbitrary<SearchTree> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("text" as const), field: textField, text: value(1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("tag" as const), tag: value(1) }) },
  fc.record({
    kind: fc.constant("status" as const),
    status: fc.constantFrom("running", "stopping", "stopped", "finished", "failed"),
  }),
  fc.record({ kind: fc.constant("id" as const), prefix: value(4) }),
  fc.record({ kind: fc.constant("regex" as const), field: regexField, pattern }),
  fc.record({
    kind: fc.constant("filter" as const),
    column: fc.constantFrom<Column>(
      { kind: "config", path: "a.b" },
      { kind: "attributes", path: "é/x" },
      { kind: "metrics", key: "a.best", figure: "mean" },
      { kind: "metrics", key: "best", figure: "latest" },
    ),
    comparison: fc.constantFrom("<", "<=", ">", ">=", "=", "!=" as const),
    operand: fc.oneof(
      fc.constantFrom(0, -1.5, 1e-7, { digits: "1e+21" }, { digits: "9007199254740993" }),
      value(0),
      fc.constant(""),
    ),
  }),
);

/** A tree of about `size` nodes. */
function treeOf(size: number): fc.Arbitrary<SearchTree> {
  if (size <= 1) return term;
  const negated = treeOf(size - 1).map((node): SearchTree => ({ kind: "not", node }));
  if (size === 2) return negated;
  const list = fc
    .tuple(fc.constantFrom("and" as const, "or" as const), fc.integer({ min: 2, max: Math.min(size - 1, 5) }))
    .chain(([kind, count]) =>
      fc
        .tuple(...Array.from({ length: count }, () => treeOf(Math.floor((size - 1) / count))))
        .map((nodes): SearchTree => ({ kind, nodes })),
    );
  return fc.oneof(negated, { weight: 3, arbitrary: list });
}
const anyTree = fc.integer({ min: 1, max: 70 }).chain(treeOf);

describe("any text", () => {
  test("is a tree within the limits, no query, or a fault inside the text", () => {
    fc.assert(
      fc.property(query, (q) => {
        const columns = Array.from(trimWhiteSpace(q)).length;
        let tree: SearchTree | undefined;
        try {
          tree = parseSearch(q, engine);
        } catch (error) {
          if (!isAppError(error)) throw error;
          expect(error).toMatchObject({ reason: "run_search_invalid", field: "q" });
          expect(error.position).toBeGreaterThanOrEqual(1);
          expect(error.position).toBeLessThanOrEqual(columns + 1);
          expect(error.message).toContain(`(column ${error.position}).`);
          return;
        }
        expect(tree === undefined).toBe(columns === 0);
        if (tree === undefined) return;
        const nodes = nodesOf(tree);
        for (const node of nodes) {
          if (node.kind === "and" || node.kind === "or") expect(node.nodes.length).toBeGreaterThanOrEqual(2);
          for (const text of Object.values(node).filter((part) => typeof part === "string")) {
            expect(text.isWellFormed() && !text.includes("\0")).toBe(true);
          }
        }
        expect(nodes.filter(({ kind }) => kind === "regex").length).toBeLessThanOrEqual(REGEXES_MAX);
      }),
      { numRuns: 3000 },
    );
  });

  test("that ends with an operator is incomplete, so it never fails", () => {
    fc.assert(
      fc.property(query, fc.constantFrom("AND", "OR", "NOT"), (q, operator) => {
        const text = `${q} ${operator}`;
        fc.pre(Buffer.byteLength(trimWhiteSpace(text)) <= QUERY_BYTES_MAX);
        const tree = parseSearch(text, () => "invalid");
        const pieces = tree?.kind === "and" ? tree.nodes : [tree];
        expect(pieces).toHaveLength(trimWhiteSpace(text).split(/\p{White_Space}+/u).length);
        expect(pieces.at(-1)).toEqual({ kind: "text", field: "all", text: operator.toLowerCase() });
      }),
    );
  });
});

describe("a tree that is written as a query", () => {
  test("is read again in any spelling", () => {
    fc.assert(
      fc.property(anyTree, fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), (tree, choices) => {
        let asked = 0;
        const { text, depth } = writeSearch(tree, () => choices[asked++ % choices.length] ?? false);
        const nodes = nodesOf(tree);
        fc.pre(depth <= DEPTH_MAX && nodes.length <= NODES_MAX && nodes.filter(isTerm).length <= TERMS_MAX);
        fc.pre(nodes.filter(({ kind }) => kind === "regex").length <= REGEXES_MAX);
        fc.pre(Buffer.byteLength(text) <= QUERY_BYTES_MAX);
        expect(parseSearch(text, () => "ok")).toEqual(tree);
      }),
      { numRuns: 1000 },
    );
  });

  test("is refused at column 1 exactly when it is too deep or has too many nodes or terms", () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const { text, depth } = writeSearch(tree, () => true);
        const nodes = nodesOf(tree);
        fc.pre(Buffer.byteLength(text) <= QUERY_BYTES_MAX);
        fc.pre(nodes.filter(({ kind }) => kind === "regex").length <= REGEXES_MAX);
        const allowed = depth <= DEPTH_MAX && nodes.length <= NODES_MAX && nodes.filter(isTerm).length <= TERMS_MAX;
        if (allowed) expect(() => parseSearch(text, () => "ok")).not.toThrow();
        else expect(() => parseSearch(text, () => "ok")).toThrow(expect.objectContaining({ position: 1 }));
      }),
      { numRuns: 1000 },
    );
  });
});
