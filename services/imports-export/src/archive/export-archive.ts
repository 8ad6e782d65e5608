import { badRequest } from "@tidemark/errors";
import { ArchiveFormat, type ArchiveService, type ExportArchiveRequest } from "@tidemark/proto/imports/v1/archive";
import { callerOf } from "@tidemark/requests";
import type { Call, Handlers } from "@tidemark/rpc";
import { archiveLines } from "./archive-lines.ts";
import type { ArchiveClients } from "./clients.ts";
import type { ExportPlaces } from "./export-places.ts";
import { parquetOfPoints } from "./parquet-of-points.ts";
import { piecesOf } from "./pieces.ts";

/** Dependencies of the archive handlers. */
export type ArchiveDeps = {
  readonly clients: ArchiveClients;
  readonly now: () => Date;
  readonly places: ExportPlaces;
};

/** Returns the handlers of ArchiveService. ExportArchive throws bad_request, not_found, and service_unavailable when too many exports are running. */
export function archiveHandlers(deps: ArchiveDeps): Handlers<(typeof ArchiveService)["method"]> {
  return {
    async *exportArchive(request, call) {
      const leave = await deps.places.take(callerOf(call).orgId);
      try {
        for await (const data of piecesOfFormat(deps, request, call)) yield { data };
      } finally {
        leave();
      }
    },
  };
}

function piecesOfFormat(
  { clients, now }: ArchiveDeps,
  request: ExportArchiveRequest,
  call: Call,
): AsyncGenerator<Uint8Array, void, undefined> {
  switch (request.format) {
    case ArchiveFormat.NDJSON:
      return piecesOf(archiveLines(clients, request, call, now()));
    case ArchiveFormat.PARQUET:
      return parquetOfPoints(clients, request, call);
    default:
      throw badRequest("format must be ndjson or parquet", "format");
  }
}
