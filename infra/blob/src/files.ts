import { open } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes names durable: a renamed file survives a power loss only if its folder was synced too. */
export async function syncFolders(from: string, to: string): Promise<void> {
  for (let folder = from; ; folder = dirname(folder)) {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (folder === to || folder === dirname(folder)) return;
  }
}

/** Returns whether a file operation failed because a name is not there. */
export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
