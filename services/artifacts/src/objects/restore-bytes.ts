import { badRequest, notFound } from "@tidemark/errors";
import type { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import { type Caller, callerOf, canSee, isUuid, refuseUnpaid } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { Tx } from "@tidemark/pg";
import type { ArtifactsDeps } from "../deps.ts";
import { giveUpObjects, keepObjects, releaseObjects, reserveObjects } from "./objects.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { giveBytes, listWantedBytes, lockWantedBytes, noteBytesCame } from "./wanted-bytes.sql.ts";

/** Seconds within which bytes must arrive once a client has begun to send them. */
const SWEEP_SECONDS = 24 * 3600;
const HASH = /^[0-9a-f]{64}$/;

type BytesHandlers = Pick<
  Handlers<(typeof ArtifactsRestoreService)["method"]>,
  "listMissingBytes" | "reserveBytes" | "storeBytes"
>;

/**
 * Returns the RPCs of ArtifactsRestoreService for bytes. The client that restores must send the bytes, even if the organization has the same
 * already: a hash does not prove that the client has them.
 */
export function restoreBytesHandlers({ db, newId, gate }: Pick<ArtifactsDeps, "db" | "newId" | "gate">): BytesHandlers {
  return {
    async listMissingBytes({ archiveId }, call) {
      const { orgId } = callerOf(call);
      requireArchive(archiveId);
      return { hashes: await db.readTenant(orgId, (tx) => listWantedBytes(tx, orgId, archiveId)) };
    },

    async reserveBytes({ archiveId, sha256 }, call) {
      const caller = callerOf(call);
      return db.withTenant(caller.orgId, async (tx) => {
        const rows = await requireWanted(tx, caller, archiveId, sha256);
        const sizeBytes = BigInt(rows[0]!.size_bytes);
        if (rows.every(({ has_come }) => has_come)) return { objectId: "", sizeBytes };
        refuseUnpaid(caller);
        // Versions count as soon as they are restored, artifacts when their bytes arrive.
        const artifacts = rows.filter(({ is_entry, has_come }) => !is_entry && !has_come).length;
        if (artifacts > 0) await gate.admit(caller, artifacts * Number(sizeBytes));
        const objectId = newId();
        await reserveObjects(tx, caller.orgId, [objectId], SWEEP_SECONDS);
        return { objectId, sizeBytes };
      });
    },

    async storeBytes({ archiveId, sha256, objectId, sizeBytes }, call) {
      const caller = callerOf(call);
      const { orgId } = caller;
      if (!isUuid(objectId)) throw badRequest("object_id must be a canonical UUID", "object_id");
      const size = Number(sizeBytes);
      await db.withTenant(orgId, async (tx) => {
        const rows = (await requireWanted(tx, caller, archiveId, sha256)).filter(({ has_come }) => !has_come);
        if (rows.some(({ size_bytes }) => size_bytes !== size)) throw badRequest("the bytes have another size", "body");
        if (rows.length === 0) return giveUpObjects(tx, orgId, [objectId]);
        const written = { objectId, sizeBytes: size, sha256: Buffer.from(sha256, "hex") };
        const kept = (
          await keepObjects(
            tx,
            orgId,
            rows.map(() => written),
          )
        ).get(objectId)!;
        let artifactBytes = 0;
        const unused: { objectId: string; owedBytes: number }[] = [];
        for (const row of rows) {
          if (!(await giveBytes(tx, orgId, row, kept))) unused.push({ objectId: kept, owedBytes: 0 });
          else if (!row.is_entry) artifactBytes += size;
        }
        if (unused.length > 0) await releaseObjects(tx, orgId, unused);
        await noteBytesCame(tx, orgId, archiveId, sha256);
        await addStorage(tx, orgId, { artifactBytes });
      });
      return {};
    },
  };
}

function requireArchive(id: string): void {
  if (!isUuid(id)) throw notFound("archive");
}

/** Returns all rows that wait for the bytes, also deleted ones that may be restored. @throws not_found unless the caller may see one */
async function requireWanted(tx: Tx, caller: Caller, archiveId: string, sha256: string) {
  const { orgId } = caller;
  requireArchive(archiveId);
  if (!HASH.test(sha256)) throw notFound("bytes");
  const rows = await lockWantedBytes(tx, orgId, archiveId, sha256);
  const isAllowed = rows.every((row) => canSee(caller, { orgId, projectId: row.project_id }));
  if (!isAllowed || !rows.some((row) => row.is_visible)) throw notFound("bytes");
  return rows;
}
