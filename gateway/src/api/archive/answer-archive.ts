import { ArchiveFormat } from "@tidemark/proto/imports/v1/archive";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { RouteInput, RouteReply, Transfer } from "../../route.ts";
import { exportHeaders } from "../export/export-headers.ts";
import { readCompleteSelection } from "../export/export-query.ts";

/** Milliseconds that a complete export may take: those of a slow client count (a stalled one is cut much earlier). */
const ARCHIVE_MS_MAX = 24 * 3_600_000;

/** The media type of NDJSON. */
export const ARCHIVE_TYPE = "application/x-ndjson";

/**
 * GET /api/export as NDJSON. Nothing is sent before it is known that the caller may see what was asked for, which HEAD asks for as well.
 * @throws bad_request, not_found
 */
export async function handleArchive(
  { query }: Pick<RouteInput, "query">,
  clients: Clients,
  call: Call,
  { request }: Pick<Transfer, "request">,
): Promise<RouteReply> {
  const messages = clients.archive.exportArchive(
    { ...readCompleteSelection(query), format: ArchiveFormat.NDJSON },
    { ...call, deadlineMs: Date.now() + ARCHIVE_MS_MAX },
  );
  if (request.method === "HEAD") {
    try {
      await messages.next();
    } finally {
      await messages.return();
    }
  }
  return {
    body: null,
    stream: { pieces: dataOf(messages) },
    headers: exportHeaders("tidemark-export.ndjson", ARCHIVE_TYPE),
  };
}

async function* dataOf(
  messages: AsyncIterable<{ readonly data: Uint8Array }>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { data } of messages) yield data;
}
