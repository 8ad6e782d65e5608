import { ArchiveFormat } from "@tidemark/proto/imports/v1/archive";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { RouteInput, RouteReply, Transfer } from "../../route.ts";
import { exportHeaders } from "../export/export-headers.ts";
import { readCompleteSelection, type CompleteFormat } from "../export/export-query.ts";

/** Milliseconds that a complete export may take: those of a slow client count (a stalled one is cut much earlier). */
const ARCHIVE_MS_MAX = 24 * 3_600_000;

/** The media type of NDJSON. */
export const ARCHIVE_TYPE = "application/x-ndjson";

/** The media type of Parquet, as registered with IANA. */
export const PARQUET_TYPE = "application/vnd.apache.parquet";

/** What the formats are called in calls and headers. */
const formats = {
  ndjson: { format: ArchiveFormat.NDJSON, fileName: "tidemark-export.ndjson", contentType: ARCHIVE_TYPE },
  parquet: { format: ArchiveFormat.PARQUET, fileName: "tidemark-export.parquet", contentType: PARQUET_TYPE },
} as const;

/**
 * GET /api/export as NDJSON or Parquet. Nothing is sent before it is known that the caller may see what was asked for, which HEAD asks for as well.
 * @throws bad_request, not_found
 */
export async function handleArchive(
  name: CompleteFormat,
  { query }: Pick<RouteInput, "query">,
  clients: Clients,
  call: Call,
  { request }: Pick<Transfer, "request">,
): Promise<RouteReply> {
  const { format, fileName, contentType } = formats[name];
  const messages = clients.archive.exportArchive(
    { ...readCompleteSelection(query), format },
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
    headers: exportHeaders(fileName, contentType),
  };
}

async function* dataOf(
  messages: AsyncIterable<{ readonly data: Uint8Array }>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { data } of messages) yield data;
}
