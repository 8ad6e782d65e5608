import type { Entry } from "../../../artifacts/artifact-types.ts";

/** A line of the tree of a version's files: a folder with how much is in it, or an entry. `path` is that of the whole name. */
export type FileRow =
  | {
      readonly kind: "folder";
      readonly path: string;
      readonly name: string;
      readonly depth: number;
      readonly files: number;
      readonly bytes: number;
    }
  | {
      readonly kind: "entry";
      readonly path: string;
      readonly name: string;
      readonly depth: number;
      readonly entry: Entry;
    };

type Folder = { readonly folders: Map<string, Folder>; readonly entries: Entry[]; files: number; bytes: number };

const newFolder = (): Folder => ({ folders: new Map(), entries: [], files: 0, bytes: 0 });

/**
 * Returns the lines of a tree of files, folders before the files next to them, both in the order in which they come. What is in a closed folder is left
 * out. With a search text the tree has only the entries whose path has it, in any case of letters.
 */
export function fileRows(
  entries: readonly Entry[],
  { closed, search }: { readonly closed: ReadonlySet<string>; readonly search: string },
): readonly FileRow[] {
  const wanted = search.trim().toLowerCase();
  const root = newFolder();
  for (const entry of entries) {
    if (!entry.path.toLowerCase().includes(wanted)) continue;
    let at = root;
    for (const name of entry.path.split("/").slice(0, -1)) {
      const next = at.folders.get(name) ?? newFolder();
      at.folders.set(name, next);
      at = next;
      at.files += 1;
      at.bytes += entry.size_bytes ?? 0;
    }
    at.entries.push(entry);
  }
  return rowsIn(root, "", 0, closed);
}

function rowsIn(folder: Folder, above: string, depth: number, closed: ReadonlySet<string>): readonly FileRow[] {
  const folders = [...folder.folders].flatMap(([name, inner]) => {
    const path = `${above}${name}`;
    const row = { kind: "folder", path, name, depth, files: inner.files, bytes: inner.bytes } as const;
    return [row, ...(closed.has(path) ? [] : rowsIn(inner, `${path}/`, depth + 1, closed))];
  });
  const entries = folder.entries.map(
    (entry) => ({ kind: "entry", path: entry.path, name: entry.path.slice(above.length), depth, entry }) as const,
  );
  return [...folders, ...entries];
}
