import { badRequest } from "@tidemark/errors";
import { VIEW_RUNS_MAX } from "@tidemark/limits";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { RouteInput } from "../../route.ts";
import { writeDocument } from "../fields/document.ts";
import { described, isObject, list, object, required, withDefault, type Field, type Fields } from "../fields/field.ts";
import { uuid } from "../fields/text.ts";
import { readViewData, type ViewData } from "./compose.ts";
import { viewOptions, type Accepted } from "./options.ts";
import { readPanels } from "./panels.ts";

const utf8 = new TextEncoder();
const utf8Text = new TextDecoder();

/** Describes ids of runs, which are read in lower case, each once. */
export const viewRunIds: Field<string[]> = (() => {
  const ids = list(uuid(), { itemsMin: 1 });
  const distinct: Field<string[]> = {
    ...ids,
    check: (value, name) => {
      const found = [...new Set(ids.check(value, name))];
      if (found.length <= VIEW_RUNS_MAX) return found;
      throw badRequest(`${name} must have at most ${VIEW_RUNS_MAX} different items`, name);
    },
  };
  return described(distinct, `At most ${VIEW_RUNS_MAX} different ones.`);
})();

const view: Field<Uint8Array> = described(
  required({ type: "object" }, (value, name) => {
    if (!isObject(value)) throw badRequest(`${name} must be an object`, name);
    return utf8.encode(writeDocument(value, name, { unstorable: "keep" }));
  }),
  "An exported view, whose checksum is checked, an object with a `payload`, or a payload.",
);

/** Body of POST /api/workspace-view-data. */
export const viewDataBody = object({
  view,
  run_ids: viewRunIds,
  options: withDefault(viewOptions, viewOptions.read({})),
});

/** The request of POST /api/workspace-view-data. */
export type ViewDataAsk = ReturnType<typeof viewDataBody.read>;

/** POST /api/workspace-view-data. @throws bad_request */
export function decodeViewData({ body }: Pick<RouteInput, "body">): ViewDataAsk {
  return viewDataBody.read(body);
}

/** Reads the view, then the data of its panels. @throws bad_request, not_found */
export async function composeViewData(
  clients: Pick<Clients, "reports" | "runs" | "ingestRead">,
  { view: viewJson, runIds, options }: ViewDataAsk,
  call: Call,
): Promise<ViewData> {
  const { payloadJson, warnings } = await clients.reports.readView({ viewJson }, call);
  const panelsMax = options.maxPanels.value;
  const content = readPanels(JSON.parse(utf8Text.decode(payloadJson)) as Fields, panelsMax);
  const told = warningsOf(options.metricPointLimit, options.maxPanels);
  const pointLimit = options.metricPointLimit.value;
  return readViewData(clients, { content, runIds, panelsMax, pointLimit, warnings: [...told, ...warnings] }, call);
}

/** Returns the warnings of adjusted options. */
export function warningsOf(...options: readonly Accepted<unknown>[]): string[] {
  return options.flatMap(({ warning }) => (warning === undefined ? [] : [warning]));
}
