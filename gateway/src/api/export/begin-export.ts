import type { Call } from "@tidemark/rpc";
import type { ExportBeginning, ExportRunsResponse } from "@tidemark/proto/imports/v1/export";
import { ArchiveFormat } from "@tidemark/proto/imports/v1/archive";
import type { Clients } from "../../clients.ts";
import type { HandlerContext, RouteInput, RouteReply } from "../../route.ts";
import type { Source } from "../../spool/spool.ts";
import { headerNames } from "../../http/headers.ts";
import {
  isComplete,
  readCompleteSelection,
  readExportFormat,
  readExportSelection,
  type CompleteFormat,
  type ExportFormat,
} from "./export-query.ts";
import { csvExport } from "./csv-export.ts";
import { jsonExport } from "./json-export.ts";

/**
 * GET /api/export. Nothing is sent before it is known that the caller may read the requested data, both for a new export and for the rest of a kept one.
 * @throws bad_request, not_found, rate_limit_exceeded, service_unavailable
 */
export async function handleExport(
  input: RouteInput,
  clients: Clients,
  call: Call,
  { request, exports }: HandlerContext,
): Promise<RouteReply> {
  const format = readExportFormat(input.query);
  const begin = (onlyBeginning: boolean): Promise<Source> =>
    isComplete(format)
      ? beginArchive(format, input, clients, call, onlyBeginning)
      : beginExport(format, input, clients, call, onlyBeginning);
  const kept = exports.find();
  if (kept !== undefined) {
    await begin(true);
    return { body: null, exportPart: kept };
  }
  if (request.method === "HEAD" && format !== "csv") {
    const { headers } = await begin(true);
    return { body: null, stream: { pieces: nothing() }, headers: headers() };
  }
  const begun = await exports.begin(() => begin(false));
  // CSV that is too large is refused, and the headers say whether rows are left out: both are known only after all of it is written.
  if (format === "csv") await begun.whole();
  return { body: null, export: begun };
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}

/** Milliseconds that a bounded export may take until it is on disk. */
const EXPORT_MS_MAX = 3_600_000;

type Parts = AsyncGenerator<ExportRunsResponse, void, undefined>;

/** The bytes of an export in a format. */
type Written = {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Whether rows are left out, as far as it is known. */
  readonly truncated: () => boolean;
};

/** How each format is written. */
const writers: Readonly<Record<ExportFormat, (beginning: ExportBeginning, parts: Parts) => Written>> = {
  json: (beginning, parts) => ({ pieces: jsonExport(beginning, parts), truncated: () => beginning.truncated }),
  csv: csvExport,
};

const contentTypes: Readonly<Record<ExportFormat, string>> = {
  json: "application/json; charset=utf-8",
  csv: "text/csv; charset=utf-8",
};

/**
 * Begins GET /api/export as JSON or CSV, once it is known which runs there are. With `onlyBeginning` there are only headers.
 * @throws bad_request, not_found, run_search_invalid, run_search_too_broad
 */
async function beginExport(
  format: ExportFormat,
  { query }: Pick<RouteInput, "query">,
  clients: Clients,
  call: Call,
  onlyBeginning: boolean,
): Promise<Source> {
  const parts = clients.exports.exportRuns(
    { ...readExportSelection(query), onlyBeginning },
    { ...call, deadlineMs: Date.now() + EXPORT_MS_MAX },
  );
  try {
    const first = await parts.next();
    if (first.done === true || first.value.part.case !== "beginning") throw new Error("an export has no beginning");
    if (onlyBeginning) await parts.return();
    const { pieces, truncated } = writers[format](first.value.part.value, parts);
    const headers = exportHeaders(`instantml-export.${format}`, contentTypes[format]);
    return {
      pieces,
      headers: () => ({
        ...headers,
        ...Object.fromEntries(headerNames.exportTruncated.map((name) => [name, String(truncated())])),
      }),
    };
  } catch (error) {
    await parts.return();
    throw error;
  }
}

/** The headers of every export: a file that no cache keeps and no browser runs. */
function exportHeaders(fileName: string, contentType: string): Record<string, string> {
  return {
    "content-type": contentType,
    "content-disposition": `attachment; filename="${fileName}"`,
    "cache-control": "private, no-store",
    pragma: "no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox",
  };
}

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
async function beginArchive(
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
