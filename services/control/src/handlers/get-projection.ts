import { readCursor, writeCursor, type ProjectionCursor } from "../domain/projection-cursor.ts";
import { readProjectionPage, type ProjectionPage } from "../store/read-projection-page.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeCredentialEntry, encodeOrganizationEntry } from "./encode-projection.ts";

const limitDefault = 1000;
const limitMax = 5000;
const beginning = { xid: 0n, kind: "", id: "" };

/**
 * Returns changed rows from the cursor's floor on. The floor that the next cursor carries was the oldest open transaction
 * when this pass began, so every row that was not visible then comes later, in whatever order transactions commit.
 */
export function getProjection({ db }: ControlDeps): ControlHandlers["getProjection"] {
  return async (request) => {
    const limit = Math.min(request.limit || limitDefault, limitMax);
    // One row more than asked for tells whether there are more.
    const read = (cursor: ProjectionCursor | undefined): Promise<ProjectionPage> => {
      const after = cursor === undefined ? beginning : (cursor.pass?.after ?? { ...beginning, xid: cursor.floor });
      return readProjectionPage(db, {
        after,
        liveOnly: cursor?.pass?.snapshot ?? cursor === undefined,
        limit: limit + 1,
      });
    };
    let cursor = readCursor(request.cursor);
    let page = await read(cursor);
    if (cursor !== undefined && cursor.floor > page.ceiling) {
      // The server is behind its own past: it was restored, and what the reader knows may never have happened.
      cursor = undefined;
      page = await read(undefined);
    }
    const rows = page.rows.slice(0, limit);
    const last = rows.at(-1);
    const more = page.rows.length > limit && last !== undefined;
    const floor = cursor?.pass === undefined ? page.floor : cursor.floor;
    const snapshot = cursor?.pass?.snapshot ?? cursor === undefined;
    return {
      organizations: rows.flatMap((row) => (row.kind === "organization" ? [encodeOrganizationEntry(row)] : [])),
      credentials: rows.flatMap((row) => (row.kind === "organization" ? [] : [encodeCredentialEntry(row)])),
      cursor: writeCursor(more ? { floor, pass: { snapshot, after: last.place } } : { floor }),
      more,
      fromStart: cursor === undefined,
    };
  };
}
