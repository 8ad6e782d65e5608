import { readDocumentInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import { BATCH_BYTES } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { canSee, type Caller } from "@tidemark/requests";
import type { RunStatus } from "@tidemark/run-state";
import { nextTurn } from "@tidemark/turns";
import { withNotes } from "../documents/run-notes.rules.ts";
import { listFittingRuns } from "../select/run-refs.sql.ts";
import { changeStatus } from "../update/change-status.ts";
import { lockRunStates, setTags } from "../update/run-changes.sql.ts";
import { listMetadata, setMetadata } from "./metadata.sql.ts";

/** What a bulk update sets; undefined leaves it. */
export type RunSettings = {
  readonly status: RunStatus | undefined;
  readonly tags: readonly string[] | undefined;
  /** The empty text removes the notes. */
  readonly notes: string | undefined;
};

/** Metadata of this many bytes is read and written before other requests go first. */
const TURN_BYTES = 256 * 1024;

/**
 * Changes all of these runs, under their locks, and returns the project of each; returns undefined and changes nothing when the caller cannot see one
 * of them. `now` is RFC 3339.
 */
export async function updateTogether(
  tx: Tx,
  caller: Caller,
  ids: readonly string[],
  { status, tags, notes, now }: RunSettings & { readonly now: string },
): Promise<ReadonlyMap<string, string> | undefined> {
  const { orgId } = caller;
  const locked = await lockRunStates(tx, orgId, ids);
  const areVisible = locked.every(({ projectId }) => canSee(caller, { orgId, projectId }));
  if (locked.length < ids.length || !areVisible) return undefined;
  if (status !== undefined) await changeStatus(tx, orgId, locked, { status, now });
  if (tags !== undefined) await setTags(tx, orgId, ids, tags);
  if (notes !== undefined) await setNotes(tx, orgId, ids, notes);
  return new Map(locked.map(({ id, projectId }) => [id, projectId]));
}

async function setNotes(tx: Tx, orgId: string, ids: readonly string[], notes: string): Promise<void> {
  for (let left = ids; left.length > 0;) {
    const fitting = await listFittingRuns(tx, orgId, left, undefined, BATCH_BYTES);
    const rows = await listMetadata(tx, orgId, fitting);
    const changed = [];
    let bytes = 0;
    for (const { id, metadata } of rows) {
      const document = await readDocumentInTurns(Buffer.from(metadata), "metadata");
      changed.push({ id, metadata: await writeCanonicalInTurns(withNotes(document, notes)) });
      bytes += metadata.length;
      if (bytes < TURN_BYTES) continue;
      bytes = 0;
      await nextTurn();
    }
    await setMetadata(tx, orgId, changed);
    left = left.slice(fitting.length);
  }
}
