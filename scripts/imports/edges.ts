import { isBuiltin } from "node:module";
import { posix } from "node:path";
import type { Import, Package, SourceFile, Workspace } from "./workspace.ts";

/** The target of an import. */
export type Target =
  | { readonly kind: "file"; readonly path: string; readonly owner: Package }
  | { readonly kind: "package"; readonly package: Package; readonly subpath: string }
  | { readonly kind: "builtin"; readonly name: string }
  | { readonly kind: "outside"; readonly name: string };

/** An import with the importing package and its target. */
export type Edge = {
  readonly file: SourceFile;
  readonly importer: Package;
  readonly import: Import;
  readonly target: Target;
};

/** Returns every import of the workspace in the order of the files. @throws Error if a file belongs to no package */
export function edges(workspace: Workspace): readonly Edge[] {
  return workspace.files.flatMap((file) => {
    const importer = ownerOf(workspace, file.path);
    return file.imports.map((found) => ({
      file,
      importer,
      import: found,
      target: resolve(workspace, file, found.specifier),
    }));
  });
}

/** Returns the package whose folder holds the path; of several, the one with the longest folder. */
function ownerOf(workspace: Workspace, path: string): Package {
  const owner = workspace.packages
    .filter(({ folder }) => folder === "" || path.startsWith(`${folder}/`))
    .toSorted((a, b) => b.folder.length - a.folder.length)[0];
  if (owner === undefined) throw new Error(`${path} belongs to no package`);
  return owner;
}

/** Returns whether only tests use a file: a test, what tests share, the contract suite of a port, or a file of a folder or package made for them. */
export function isTestFile(path: string): boolean {
  return /\.(test|fixture|contract)\.(ts|mjs)$|(^|\/)(test|testkit)\//.test(path);
}

function resolve(workspace: Workspace, file: SourceFile, specifier: string): Target {
  if (specifier.startsWith(".")) {
    const path = posix.join(posix.dirname(file.path), specifier);
    return { kind: "file", path, owner: ownerOf(workspace, path) };
  }
  if (isBuiltin(specifier)) return { kind: "builtin", name: specifier.replace(/^node:/, "") };
  const parts = specifier.split("/");
  const name = parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
  const found = workspace.packages.find((candidate) => candidate.name === name);
  if (found === undefined) return { kind: "outside", name };
  return { kind: "package", package: found, subpath: ["."].concat(parts.slice(name.split("/").length)).join("/") };
}
