import type { ExportBeginning, ExportRunsResponse } from "@tidemark/proto/imports/v1/export";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { headerNames } from "../../http/headers.ts";
import type { RouteInput } from "../../route.ts";
import type { Source } from "../../spool/spool.ts";
import { csvExport } from "./csv-export.ts";
import { readExportSelection, type ExportFormat } from "./export-query.ts";
import { jsonExport } from "./json-export.ts";

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
export async function beginExport(
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
export function exportHeaders(fileName: string, contentType: string): Record<string, string> {
  return {
    "content-type": contentType,
    "content-disposition": `attachment; filename="${fileName}"`,
    "cache-control": "private, no-store",
    pragma: "no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox",
  };
}
