import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { SealedArchive } from "../convert/spool.ts";
import { isRefusal, refused, type Client } from "../server/client.ts";
import type { Surroundings } from "../surroundings.ts";
import { showProgress } from "../terminal/progress.ts";
import type { Warnings } from "../terminal/warnings.ts";
import type { Content } from "../convert/artifact-lines.ts";
import type { ImportCommand } from "../options.ts";

/** What the server says of a restored archive. */
type ArchiveAnswer = {
  readonly archive_id: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly replaced: readonly { readonly type: string; readonly old: string; readonly new: string }[];
  readonly missing_bytes: readonly string[];
  readonly warnings: readonly string[];
};

/**
 * Sends an archive. Its key is derived from its content, so that after a break, or in a later start, the same archive continues with what the server has.
 * @throws CliError
 */
export async function sendArchive(
  client: Client,
  { path, bytes, sha256 }: SealedArchive,
  surroundings: Surroundings,
): Promise<ArchiveAnswer> {
  const progress = showProgress(surroundings, "sending", "bytes", bytes);
  const answer = await client.call<ArchiveAnswer>("POST", "/api/imports/archive", {
    file: { path, bytes, type: "application/x-ndjson", onSent: progress.set },
    headers: { "idempotency-key": `archive-${sha256}` },
  });
  if (isRefusal(answer)) {
    const line = answer.position === undefined ? "" : ` (line ${answer.position} of ${path})`;
    throw refused(`the archive was not stored${line}`, answer);
  }
  progress.end();
  return answer;
}

/**
 * Sends the bytes that the server does not have, each from its file. Files that are gone or have changed are counted as warnings.
 * Returns how many could not be sent.
 */
export async function sendBytes(
  client: Client,
  { archive_id: id, missing_bytes: missing }: ArchiveAnswer,
  pathOf: (sha256: string) => string | undefined,
  warnings: Warnings,
  surroundings: Surroundings,
): Promise<number> {
  if (missing.length === 0) return 0;
  const progress = showProgress(surroundings, "sending files", "files", missing.length);
  let failed = 0;
  for (const [i, sha256] of missing.entries()) {
    const path = pathOf(sha256);
    const size =
      path === undefined
        ? undefined
        : await stat(path)
            .then(({ size: bytes }) => bytes)
            .catch(() => undefined);
    if (path === undefined || size === undefined) {
      failed += 1;
      warnings.add("files whose bytes are not there", path ?? sha256);
    } else {
      const file = { path, bytes: size, type: "application/octet-stream" };
      const answer = await client.call("PUT", `/api/imports/archive/${id}/bytes/${sha256}`, { file });
      if (isRefusal(answer)) {
        // Without permission or allowance no other file would be taken either.
        if ([401, 402, 403].includes(answer.status)) throw refused(`the bytes of ${path} were not stored`, answer);
        failed += 1;
        warnings.add("files that the server did not take", `${path}: ${answer.text}`);
      }
    }
    progress.set(i + 1);
  }
  progress.end();
  return failed;
}

/** An archive that was made, with the bytes that it names; it may be half sent. */
export type Pending = { readonly archive: SealedArchive; readonly contents: readonly Content[] };

/** How long the server knows an archive by its key is a day; after that the same one would be stored again. */
const KNOWN_MS = 20 * 3600 * 1000;

/** Returns the folder in which an import keeps the data that it sends, until all of it is sent. */
export function pendingFolder(
  { stateFolder }: Surroundings,
  { server, from, project }: ImportCommand,
  root: string,
): string {
  const name = createHash("sha256")
    .update(JSON.stringify([server.url, server.key, root === "" ? from : root, project]))
    .digest("hex");
  return join(stateFolder, "imports", name.slice(0, 32));
}

/** Notes that an archive is whole, before it is sent. */
export async function keepPending(folder: string, pending: Pending): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, "ready.tmp"), JSON.stringify(pending), { mode: 0o600 });
  await rename(join(folder, "ready.tmp"), join(folder, "ready.json"));
}

/** Returns the archive that an earlier start did not send completely; undefined if there is none that the server would still know. */
export async function readPending(folder: string, now: number): Promise<Pending | undefined> {
  const path = join(folder, "ready.json");
  try {
    if (now - (await stat(path)).mtimeMs > KNOWN_MS) return undefined;
    const pending = JSON.parse(await readFile(path, "utf8")) as Pending;
    return (await stat(pending.archive.path)).size === pending.archive.bytes ? pending : undefined;
  } catch {
    return undefined;
  }
}

/** Forgets an archive that is sent. */
export async function dropPending(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
