import { RESTORE_LIMITS } from "@tidemark/limits";
import type { Route } from "../../route.ts";
import { importers } from "../callers.ts";
import { handlePutBytes, handleRestore, restoredSchema, storedBytesSchema } from "./restore.ts";

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
