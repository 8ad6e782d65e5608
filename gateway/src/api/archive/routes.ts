import { badRequest } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import { RESTORE_LIMITS } from "@tidemark/limits";
import type { Clients } from "../../clients.ts";
import { arriving } from "../../gate/arrival.ts";
import type { HandlerContext, Route, RouteInput, RouteReply, Schema } from "../../route.ts";
import { countSchema, listSchema, objectSchema, textSchema, uuidSchema } from "../replies.ts";
import { importers } from "../callers.ts";
import { decoded, piecesOfLines } from "./body-pieces.ts";

/** Answer of POST /api/imports/archive. */
const restoredSchema: Schema = objectSchema({
  archive_id: uuidSchema,
  counts: { type: "object", additionalProperties: countSchema, description: "Rows by type; values of columns." },
  replaced: listSchema(objectSchema({ type: textSchema, old: uuidSchema, new: uuidSchema })),
  missing_bytes: listSchema({ type: "string", pattern: "^[0-9a-f]{64}$" }),
  warnings: listSchema(textSchema),
});

/** Answer of PUT /api/imports/archive/{archive_id}/bytes/{sha256}. */
const storedBytesSchema: Schema = objectSchema({ sha256: textSchema, size_bytes: countSchema });

/**
 * POST /api/imports/archive. The body is passed on in pieces of whole lines while it arrives, until the client leaves, and is restored when its end is
 * stored; the restore goes on if the client leaves.
 * @throws bad_request, archive_invalid, archive_incomplete, idempotency_key_reused, payment_required, plan_limit_exceeded, forbidden
 */
export async function handleRestore(
  input: RouteInput,
  clients: Clients,
  _call: Call,
  { request, reserveMemory, newCall }: HandlerContext,
): Promise<RouteReply> {
  const begin = { key: input.idempotencyKey ?? "" };
  const { archiveId, isRestored } = await clients.restore.beginArchive(begin, await newCall());
  let [number, firstLine] = [0, 1];
  for await (const { data, isLast } of piecesOfLines(decoded(request), reserveMemory)) {
    requireClient(request);
    const { lines } = await clients.restore.putPiece({ archiveId, number, firstLine, data, isLast }, await newCall());
    number += 1;
    firstLine += lines;
  }
  for (;;) {
    const { answerJson } = await clients.restore.awaitArchive({ archiveId }, await newCall());
    if (answerJson.length > 0) return { body: null, bytes: Buffer.from(answerJson), replayed: isRestored };
    requireClient(request);
  }
}

/** A body that was sent may become many pieces. @throws bad_request */
function requireClient({ socket }: HandlerContext["request"]): void {
  if (socket.destroyed) throw badRequest("the client has left");
}

/**
 * PUT /api/imports/archive/{archive_id}/bytes/{sha256}: bytes that the restored archive names. Sending them again changes nothing.
 * @throws not_found for bytes that the archive does not name, bad_request for others, payment_required, plan_limit_exceeded
 */
async function handlePutBytes(
  { params, identity }: RouteInput,
  clients: Clients,
  _call: Call,
  { request, objects, newCall }: HandlerContext,
): Promise<RouteReply> {
  const [archiveId, sha256] = [params["archive_id"]!, params["sha256"]!];
  const { objectId, sizeBytes } = await clients.restoredBytes.reserveBytes({ archiveId, sha256 }, await newCall());
  const size = Number(sizeBytes);
  const { "content-encoding": encoding = "identity" } = request.headers;
  if (encoding.trim().toLowerCase() !== "identity") throw badRequest("the bytes must not have a content encoding");
  if (objectId !== "") {
    const key = objects.keyOf(identity!.orgId, objectId);
    const stored = await objects.put(key, arriving(request), { size });
    if (stored.sha256 !== sha256) {
      await objects.remove(key);
      throw badRequest(`the bytes have the SHA-256 ${stored.sha256}`);
    }
    await clients.restoredBytes.storeBytes({ archiveId, sha256, objectId, sizeBytes }, await newCall());
  }
  return { body: { sha256, size_bytes: size } };
}

/** Most bytes in one request: the limit for an S3 object that is put as a whole. */
const BYTES_MAX = 80 * 1024 ** 3;

/** Restoring archives of complete exports. */
export const archiveRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/api/imports/archive",
    tag: "imports",
    summary: "Restore a complete export",
    description:
      "Takes the NDJSON of `GET /api/export?format=ndjson`, also with `Content-Encoding: gzip`, and restores it verbatim. Nothing is visible before its line of the type `end`; without it the answer is 400 with the code `archive_incomplete`, and for 24 hours the same `Idempotency-Key` with the whole body completes it. A line that cannot be restored is 400 with the code `archive_invalid` and its number in `position`; so is one too many of 32,768 lines in each mebibyte. A compressed body becomes at most 256 times its size, the first 16 MiB apart. A project of the same name is merged into; other ids that are taken are replaced and listed. Views belong to the user who restores them; a key has none.",
    callers: importers,
    rate: "import",
    idempotency: "optional",
    streamed: "bytes",
    endsWithClient: true,
    bodyBytesMax: RESTORE_LIMITS.archiveBytesMax,
    schemas: { response: restoredSchema },
    statuses: [200, 400, 401, 402, 403, 409],
    handle: handleRestore,
  },
  {
    method: "PUT",
    path: "/api/imports/archive/{archive_id}/bytes/{sha256}",
    tag: "imports",
    summary: "Bring bytes of a restored archive",
    description:
      "For each of `missing_bytes`. Artifacts and entries of versions that have these bytes can be downloaded from then on.",
    callers: importers,
    rate: "import",
    idempotency: "none",
    streamed: "bytes",
    bodyBytesMax: BYTES_MAX,
    schemas: { response: storedBytesSchema },
    statuses: [200, 400, 401, 402, 403, 404],
    handle: handlePutBytes,
  },
];
