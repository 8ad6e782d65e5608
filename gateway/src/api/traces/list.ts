import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { SPAN_KINDS, SPAN_STATUSES, TRACES_PAGE_ROWS } from "@tidemark/limits";
import type { ListTracesRequestSchema, ListTracesResponse } from "@tidemark/proto/traces/v1/traces";
import { writeListInTurns } from "../../http/json.ts";
import type { RouteInput, RouteReply } from "../../route.ts";
import { object, withFault, type Field } from "../fields/field.ts";
import { parseMicros } from "../fields/instant.ts";
import { limit, queryNumber } from "../fields/number.ts";
import { querySearch, queryText } from "../fields/text.ts";
import { textOrNull } from "../replies.ts";
import { listedTraceJson } from "./rows.ts";

/** Describes an instant in a query; `undefined` when absent or blank. */
function queryInstant(description: string): Field<number | undefined> {
  return {
    schema: { type: "string", format: "date-time", description },
    required: false,
    absent: () => undefined,
    check: (value, name) => {
      if (typeof value !== "string" || value.trim() === "") return undefined;
      const micros = parseMicros(value);
      if (micros === undefined) throw badRequest(`${name} must be an RFC 3339 time with a zone`, name);
      return micros;
    },
  };
}

/** Query of GET /api/traces. */
export const listTracesQuery = object({
  project_id: queryText({ description: "The project. `run_id` goes before it." }),
  project: queryText({ description: "The name of the project, unless its id or a run is given." }),
  run_id: queryText({ description: "Traces of this run only." }),
  status: queryText({ enum: [...SPAN_STATUSES, "all", ""] }),
  kind: queryText({ enum: [...SPAN_KINDS, "all", ""], description: "Traces with a span of this kind." }),
  q: querySearch(
    "Up to eight words, all of which have to be found: in the name of the root, the rollout or the thread, where ASCII case does not matter, or at the beginning of the trace's id.",
  ),
  from: queryInstant("Started then or later. Default: seven days ago, of a run the beginning."),
  to: queryInstant("Started before."),
  min_step: {
    ...queryNumber(),
    schema: { ...queryNumber().schema, description: "Bound of the lowest step of a trace." },
  },
  max_step: queryNumber(),
  limit: limit(TRACES_PAGE_ROWS),
  cursor: queryText(),
});

/** GET /api/traces. Faults of the query travel in the message, because a missing run or project takes precedence. */
export function decodeListTraces({ query }: RouteInput): MessageInitShape<typeof ListTracesRequestSchema> {
  const { value, fault } = withFault(() => listTracesQuery.read(query));
  if (value === undefined) {
    const { run_id: runId = "", project_id: projectId = "", project = "" } = query;
    return { runId: runId.trim(), projectId: projectId.trim(), project: project.trim(), queryFault: fault };
  }
  const { from, to, ...rest } = value;
  return {
    ...rest,
    runId: rest.runId.trim(),
    projectId: rest.projectId.trim(),
    project: rest.project.trim(),
    fromUs: from,
    toUs: to,
  };
}

/** `{"traces": [row, …], "next_cursor": text or null, "limit": n}`. */
export async function encodeListTraces(
  { traces, nextCursor }: ListTracesResponse,
  { limit: rows = TRACES_PAGE_ROWS.default }: MessageInitShape<typeof ListTracesRequestSchema>,
): Promise<RouteReply> {
  const written = await writeListInTurns(traces, listedTraceJson);
  return { body: { traces: written, next_cursor: textOrNull(nextCursor), limit: rows } };
}
