import { glob, readFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/** A package of the workspace, as its package.json declares it. */
export type Package = {
  readonly name: string;
  /** Relative to the repository; empty for the repository's own package.json, to which the scripts belong. */
  readonly folder: string;
  /** Keys of `exports`, such as `.` or `./grpc/*`; empty: nothing can be imported. */
  readonly exports: readonly string[];
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
};

/** A module written by hand; the path is relative to the repository, with forward slashes. */
export type SourceFile = { readonly path: string; readonly imports: readonly Import[] };

/** The input of the import rules: every package and every import between them. */
export type Workspace = { readonly packages: readonly Package[]; readonly files: readonly SourceFile[] };

const leftOut = new Set(["node_modules", "gen", "data", ".git", ".tidemark"]);

/** Reads the workspace at `root`: all .ts, .tsx and .mjs files but generated and installed ones. */
export async function readWorkspace(root: string): Promise<Workspace> {
  const manifests = await list(root, "**/package.json");
  const sources = (await list(root, "**/*.{ts,tsx,mjs}")).filter((path) => !path.endsWith(".d.ts"));
  return {
    packages: await Promise.all(manifests.map((path) => readPackage(root, path))),
    files: await Promise.all(
      sources.map(async (path) => ({ path, imports: readImports(path, await readFile(join(root, path), "utf8")) })),
    ),
  };
}

async function list(root: string, pattern: string): Promise<readonly string[]> {
  const paths = await Array.fromAsync(
    glob(pattern, { cwd: root, exclude: (name) => leftOut.has(name.split(sep).at(-1) ?? "") }),
  );
  return paths.map((path) => path.split(sep).join("/")).toSorted();
}

async function readPackage(root: string, path: string): Promise<Package> {
  const manifest = JSON.parse(await readFile(join(root, path), "utf8")) as {
    name?: string;
    exports?: Record<string, unknown>;
    dependencies?: Record<string, string>;
    devDependencies?: Record<string, string>;
  };
  const folder = dirname(path);
  return {
    name: manifest.name ?? folder,
    folder: folder === "." ? "" : folder,
    exports: Object.keys(manifest.exports ?? {}),
    dependencies: Object.keys(manifest.dependencies ?? {}),
    devDependencies: Object.keys(manifest.devDependencies ?? {}),
  };
}

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
