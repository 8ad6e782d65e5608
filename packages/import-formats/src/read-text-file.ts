import type { FileTree, TreePath } from "./file-tree.ts";

/** Reads a file as text, or returns undefined if it has more than `bytesMax` bytes. A file that is not there is empty or fails, as the tree does it. */
export async function readTextFile(tree: FileTree, path: TreePath, bytesMax: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of tree.read(path)) {
    bytes += part.length;
    if (bytes > bytesMax) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
