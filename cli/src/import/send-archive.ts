import { stat } from "node:fs/promises";
import type { SealedArchive } from "../convert/spool.ts";
import { isRefusal, refused, type Client } from "../server/client.ts";
import type { Surroundings } from "../surroundings.ts";
import { showProgress } from "../terminal/progress.ts";
import type { Warnings } from "../terminal/warnings.ts";

/** What the server says of a restored archive. */
export type ArchiveAnswer = {
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
