import { glob, readFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { type Import, readImports } from "./read-imports.ts";

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
