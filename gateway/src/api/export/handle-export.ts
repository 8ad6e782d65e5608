import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { HandlerContext, RouteInput, RouteReply } from "../../route.ts";
import type { Source } from "../../spool/spool.ts";
import { beginArchive } from "../archive/begin-archive.ts";
import { beginExport } from "./begin-export.ts";
import { isComplete, readExportFormat } from "./export-query.ts";

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
