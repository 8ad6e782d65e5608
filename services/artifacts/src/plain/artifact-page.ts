import { isInstant, readCursor, writeCursor } from "@tidemark/cursors";
import { badRequest } from "@tidemark/errors";
import type { Db } from "@tidemark/pg";
import { isUuid } from "@tidemark/requests";
import { readArtifacts, weighArtifactsFrom, type ArtifactPlace } from "./artifacts.sql.ts";
import { encodeArtifact } from "./encode-artifact.ts";

/** A page of the artifacts of a run that the caller may see; `cursor` is empty for the first one. */
export type ArtifactPage = {
  readonly orgId: string;
  readonly runId: string;
  readonly cursor: string;
  readonly limit: number;
  /** A page ends after this many bytes of client-chosen texts; it has at least one artifact. */
  readonly bytesMax: number;
};

/** Reads a page of artifacts, newest first; `nextCursor` is empty on the last one. @throws bad_request for a cursor of another list */
export function readArtifactPage(db: Db, { orgId, runId, cursor, limit, bytesMax }: ArtifactPage) {
  const after = readPlace(cursor);
  return db.readTenant(
    orgId,
    async (tx) => {
      const weighed = await weighArtifactsFrom(tx, orgId, runId, after, limit + 1);
      const page = weighed.slice(0, countFitting(weighed.slice(0, limit), bytesMax));
      const last = page.at(-1);
      const rows = await readArtifacts(
        tx,
        orgId,
        page.map(({ id }) => id),
      );
      const isLast = last === undefined || page.length === weighed.length;
      return { artifacts: rows.map(encodeArtifact), nextCursor: isLast ? "" : writeCursor([last.createdAt, last.id]) };
    },
    { plans: "walks" },
  );
}

const FIRST: ArtifactPlace = { createdAt: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };

function readPlace(cursor: string): ArtifactPlace {
  if (cursor === "") return FIRST;
  const [createdAt, id] = readCursor(cursor, 2) ?? [];
  if (isInstant(createdAt) && typeof id === "string" && isUuid(id)) return { createdAt, id };
  throw badRequest("cursor is not a cursor of this list", "cursor");
}

/** Returns how many of the rows fit in a page, at least one. */
function countFitting(rows: readonly { readonly bytes: number }[], bytesMax: number): number {
  let sum = 0;
  const beyond = rows.findIndex(({ bytes }) => (sum += bytes) > bytesMax);
  return beyond === -1 ? rows.length : Math.max(beyond, 1);
}
