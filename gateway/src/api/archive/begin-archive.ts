import { ArchiveFormat } from "@tidemark/proto/imports/v1/archive";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { RouteInput } from "../../route.ts";
import type { Source } from "../../spool/spool.ts";
import { exportHeaders } from "../export/begin-export.ts";
import { readCompleteSelection, type CompleteFormat } from "../export/export-query.ts";

/** Milliseconds that a complete export may take until it is on disk. */
const ARCHIVE_MS_MAX = 24 * 3_600_000;

/** The media type of NDJSON. */
export const ARCHIVE_TYPE = "application/x-ndjson";

/** The media type of Parquet, as registered with IANA. */
export const PARQUET_TYPE = "application/vnd.apache.parquet";

/** Names of the formats in calls and headers. */
const formats = {
  ndjson: { format: ArchiveFormat.NDJSON, fileName: "tidemark-export.ndjson", contentType: ARCHIVE_TYPE },
  parquet: { format: ArchiveFormat.PARQUET, fileName: "tidemark-export.parquet", contentType: PARQUET_TYPE },
} as const;

/**
 * Begins GET /api/export as NDJSON or Parquet. The first piece proves that the caller may read the requested data. With `onlyBeginning` it is awaited
 * here, and there are no pieces.
 * @throws bad_request; here or with the first piece not_found, and service_unavailable while too many are under way
 */
export async function beginArchive(
  name: CompleteFormat,
  { query }: Pick<RouteInput, "query">,
  clients: Clients,
  call: Call,
  onlyBeginning: boolean,
): Promise<Source> {
  const { format, fileName, contentType } = formats[name];
  const messages = clients.archive.exportArchive(
    { ...readCompleteSelection(query), format },
    { ...call, deadlineMs: Date.now() + ARCHIVE_MS_MAX },
  );
  if (onlyBeginning) {
    try {
      await messages.next();
    } finally {
      await messages.return();
    }
  }
  return { pieces: dataOf(messages), headers: () => exportHeaders(fileName, contentType) };
}

async function* dataOf(
  messages: AsyncIterable<{ readonly data: Uint8Array }>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { data } of messages) yield data;
}
