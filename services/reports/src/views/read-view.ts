import { callerOf } from "@tidemark/requests";
import type { ReportsHandlers } from "../deps.ts";
import { readGivenView } from "./envelope.rules.ts";

const utf8 = new TextEncoder();

/** ReportsService.ReadView. @throws unauthenticated, bad_request */
export function readView(): ReportsHandlers["readView"] {
  return async (request, call) => {
    callerOf(call);
    const { payload, warnings } = await readGivenView(request.viewJson);
    return { payloadJson: utf8.encode(payload), warnings: [...warnings] };
  };
}
