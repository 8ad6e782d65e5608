import type { EmbedSession } from "@tidemark/proto/reports/v1/embeds";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { RouteInput } from "../../route.ts";
import { object, optional, withDefault } from "../fields/field.ts";
import { textOrEmpty } from "../fields/text.ts";
import { readViewData, type ViewData } from "../view-data/compose.ts";
import { viewOptions } from "../view-data/options.ts";
import { warningsOf } from "../view-data/read.ts";
import { generateView } from "./generated-view.ts";
import { sessionOf } from "./session.ts";

/** Body of POST /api/embed/sessions/{session_id}/runs/data. */
export const embedDataBody = object({
  options: withDefault(optional(viewOptions), undefined),
  refresh_reason: textOrEmpty(),
});

/** The requested data, within what the session allows. */
export type EmbedDataAsk = {
  readonly session: EmbedSession;
  readonly panelsMax: number;
  readonly pointLimit: number;
  readonly warnings: readonly string[];
};

/** POST /api/embed/sessions/{session_id}/runs/data. @throws bad_request */
export function decodeEmbedData({ body, embedSession }: Pick<RouteInput, "body" | "embedSession">): EmbedDataAsk {
  const session = sessionOf({ embedSession });
  const { options } = embedDataBody.read(body);
  if (options === undefined) {
    return { session, panelsMax: session.panelsMax, pointLimit: session.pointsMax, warnings: [] };
  }
  const { maxPanels, metricPointLimit } = options;
  return {
    session,
    panelsMax: Math.min(maxPanels.value, session.panelsMax),
    pointLimit: Math.min(metricPointLimit.value, session.pointsMax),
    warnings: warningsOf(maxPanels, metricPointLimit),
  };
}

/** Reads the runs of a session and makes a view of the keys with the most points. @throws not_found, bad_request */
export async function composeEmbedData(
  clients: Pick<Clients, "runs" | "ingestRead">,
  { session, ...bounds }: EmbedDataAsk,
  call: Call,
): Promise<ViewData> {
  const { runIds } = session;
  const { runs, rankedKeys } = await clients.runs.getRuns({ runIds, rankedKeysMax: bounds.panelsMax }, call);
  const content = generateView(runs, rankedKeys, bounds.panelsMax);
  return readViewData(clients, { content, runIds, ...bounds }, call, runs);
}
