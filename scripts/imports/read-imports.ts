import { parseSync, Visitor } from "oxc-parser";

/** One import of a source file in any syntax: declaration, re-export, `import()` or the type `import("x").T`. */
export type Import = {
  readonly specifier: string;
  /** Stripping the types removes the whole import: `import type`, but not `import { type A }`, which still loads the file. */
  readonly typeOnly: boolean;
  /** 1-based. */
  readonly line: number;
};

/**
 * Returns the imports of a TypeScript or JavaScript module in the order of the text. An `import()` of a computed name is left
 * out. @throws Error if the text does not parse
 */
export function readImports(path: string, text: string): readonly Import[] {
  const { program, errors } = parseSync(path, text);
  const first = errors[0];
  if (first !== undefined) throw new Error(`${path}: ${first.message}`);
  const found: { specifier: string; typeOnly: boolean; at: number }[] = [];
  const add = (source: { type: string; value?: unknown } | null, typeOnly: boolean, at: number): void => {
    if (source?.type === "Literal" && typeof source.value === "string")
      found.push({ specifier: source.value, typeOnly, at });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source, node.importKind === "type", node.start),
    ExportNamedDeclaration: (node) => add(node.source, node.exportKind === "type", node.start),
    ExportAllDeclaration: (node) => add(node.source, node.exportKind === "type", node.start),
    ImportExpression: (node) => add(node.source, false, node.start),
    TSImportType: (node) => add(node.source, true, node.start),
  }).visit(program);
  return found
    .toSorted((a, b) => a.at - b.at)
    .map(({ specifier, typeOnly, at }) => ({ specifier, typeOnly, line: text.slice(0, at).split("\n").length }));
}
