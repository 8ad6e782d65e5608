import type { ExportBeginning, ExportRunsResponse } from "@tidemark/proto/imports/v1/export";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { headerNames } from "../../http/headers.ts";
import type { AnswerStream, RouteInput, RouteReply, Transfer } from "../../route.ts";
import { handleArchive } from "../archive/answer-archive.ts";
import { csvExport } from "./csv-export.ts";
import { exportHeaders } from "./export-headers.ts";
import { isComplete, readExportFormat, readExportSelection, type ExportFormat } from "./export-query.ts";
import { jsonExport } from "./json-export.ts";

/** Milliseconds that an export may take: those of a slow client count (a stalled one is cut much earlier). */
const EXPORT_MS_MAX = 3_600_000;

/** What is sent of an export, and what its headers say. */
type Answer = { readonly contentType: string; readonly stream: AnswerStream; readonly truncated: boolean };

type Writer = (
  beginning: ExportBeginning,
  parts: AsyncGenerator<ExportRunsResponse, void, undefined>,
  transfer: Transfer,
) => Promise<Answer>;

/** How each format is written. */
const writers: Readonly<Record<ExportFormat, Writer>> = {
  json: (beginning, parts) =>
    Promise.resolve({
      contentType: "application/json; charset=utf-8",
      stream: { pieces: jsonExport(beginning, parts) },
      truncated: beginning.truncated,
    }),
  csv: async (beginning, parts, { hold }) => {
    const { pieces, sizeBytes, truncated } = await csvExport(beginning, parts, hold);
    return { contentType: "text/csv; charset=utf-8", stream: { pieces: inTurn(pieces), sizeBytes }, truncated };
  },
};

/** Yields pieces one after another. */
async function* inTurn(pieces: readonly Buffer[]): AsyncGenerator<Uint8Array, void, undefined> {
  yield* pieces;
}

/** GET /api/export. Nothing is sent before it is known which runs there are, and whether any rows are left out. */
export async function handleExport(
  input: RouteInput,
  clients: Clients,
  call: Call,
  transfer: Transfer,
): Promise<RouteReply> {
  const format = readExportFormat(input.query);
  if (isComplete(format)) return handleArchive(format, input, clients, call, transfer);
  const selection = readExportSelection(input.query);
  // The size of CSV is known only when all of it was written.
  const onlyBeginning = transfer.request.method === "HEAD" && format === "json";
  const parts = clients.exports.exportRuns(
    { ...selection, onlyBeginning },
    { ...call, deadlineMs: Date.now() + EXPORT_MS_MAX },
  );
  try {
    const first = await parts.next();
    if (first.done === true || first.value.part.case !== "beginning") throw new Error("an export has no beginning");
    const { contentType, stream, truncated } = await writers[format](first.value.part.value, parts, transfer);
    // Nobody will read on.
    if (onlyBeginning) await parts.return();
    const headers = {
      ...exportHeaders(`instantml-export.${format}`, contentType),
      ...Object.fromEntries(headerNames.exportTruncated.map((name) => [name, String(truncated)])),
    };
    return { body: null, stream, headers };
  } catch (error) {
    await parts.return();
    throw error;
  }
}
