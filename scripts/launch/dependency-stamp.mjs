import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns a fingerprint of everything that decides what belongs in node_modules: the lock file, the workspace file, every
 * manifest of the workspace, and the Node that packages are installed for.
 *
 * @param {string} root the work tree
 * @param {string} nodeVersion
 * @returns {string} hexadecimal
 */
export const dependencyStamp = (root, nodeVersion) => {
  const hash = createHash("sha256").update(`node ${nodeVersion} ${process.platform} ${process.arch}`);
  for (const path of ["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests(root)]) {
    hash.update(`\n${path}\n`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
};

/**
 * Returns the manifests of the workspace, as sorted paths from its root.
 *
 * @param {string} root
 * @returns {string[]}
 */
export const manifests = (root) => {
  const patterns = workspacePatterns(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8"));
  const folders = patterns.flatMap((pattern) => {
    if (!pattern.endsWith("/*")) return [pattern];
    const parent = pattern.slice(0, -2);
    return existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => `${parent}/${name}`) : [];
  });
  return ["", ...folders.map((folder) => `${folder}/`)]
    .map((folder) => `${folder}package.json`)
    .filter((path) => existsSync(join(root, path)))
    .sort();
};

/**
 * Returns the `packages:` of a pnpm-workspace.yaml. It knows the two forms of pattern that this workspace has, a folder and
 * `folder/*`, and throws for others: a manifest must not be overlooked. Pure.
 *
 * @param {string} yaml
 * @returns {string[]}
 */
export const workspacePatterns = (yaml) => {
  const lines = yaml.split("\n");
  const start = lines.indexOf("packages:") + 1;
  const length = lines.slice(start).findIndex((line) => !/^\s+-\s|^\s*(#.*)?$/.test(line));
  return lines
    .slice(start, length === -1 ? undefined : start + length)
    .filter((line) => /^\s+-\s/.test(line))
    .map((line) =>
      line
        .replace(/^\s+-\s+/, "")
        .replace(/^(["'])(.*)\1\s*$/, "$2")
        .trim(),
    )
    .map((pattern) => {
      if (!/^[\w./-]+?(\/\*)?$/.test(pattern))
        throw new Error(`pnpm-workspace.yaml: the pattern ${pattern} is not understood`);
      return pattern;
    });
};
