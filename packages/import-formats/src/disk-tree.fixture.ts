import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FileTree } from "./file-tree.ts";
import { fixturesFolder } from "./collect.fixture.ts";

/** Opens the data of a fixture. Files named in `instead` have other bytes than on the disk. */
export function fixtureTree(fixture: string, instead: Readonly<Record<string, Uint8Array>> = {}): FileTree {
  const root = join(fixturesFolder, fixture, "data");
  return {
    async list(folder) {
      const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
      return Promise.all(
        entries.map(async (entry) => ({
          name: entry.name,
          isFolder: entry.isDirectory(),
          size: entry.isDirectory() ? 0 : (await stat(join(root, folder, entry.name))).size,
        })),
      );
    },
    read(file, from = 0) {
      const other = instead[file];
      if (other !== undefined) return piecesOf(other.subarray(from));
      return createReadStream(join(root, file), { start: from, highWaterMark: 1000 });
    },
  };
}

/** Yields bytes in pieces of uneven lengths, so that nothing can count on whole ones. */
export async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0, length = 1; at < bytes.length; at += length, length = (length * 7) % 1009) {
    yield bytes.subarray(at, at + length);
  }
}
