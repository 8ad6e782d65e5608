import { TRACE_LIMITS } from "@tidemark/limits";
import type { Route, Schema } from "../../route.ts";
import { ingestCallers } from "../callers.ts";
import { objectSchema } from "../schemas.ts";
import { handleExportSpans } from "./export-spans.ts";
import { otlpProtocol } from "./protocol.ts";

/** Most bytes of a decoded request. */
const OTLP_BYTES_MAX = 4 * 1024 * 1024;

const anything: Schema = { type: "object" };
/** In OTLP/JSON, null is the same as absent. */
const anythingOrNull: Schema = { type: ["object", "null"] };
const listOf = (items: Schema): Schema => ({ type: ["array", "null"], items });

/** The outer fields of an `ExportTraceServiceRequest` in JSON; those of spans are OpenTelemetry's. */
const body: Schema = objectSchema(
  {
    resourceSpans: listOf(
      objectSchema(
        { resource: anythingOrNull, scopeSpans: listOf(objectSchema({ spans: listOf(anything) }, ["spans"])) },
        ["resource", "scopeSpans"],
      ),
    ),
  },
  ["resourceSpans"],
);

/** Spans of OpenTelemetry. */
export const otlpRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/traces",
    tag: "traces",
    summary: "Log spans of OpenTelemetry (OTLP/HTTP)",
    description: `An \`ExportTraceServiceRequest\` in protobuf or JSON with at most ${TRACE_LIMITS.exportedSpansMax} spans, as any exporter of OpenTelemetry sends it. The resource attribute \`tidemark.run_id\`, or the header \`x-tidemark-run-id\`, names the run. Spans that cannot be stored are counted in \`partialSuccess\`. A span that is sent again changes nothing.`,
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    protocol: otlpProtocol,
    bodyBytesMax: OTLP_BYTES_MAX,
    schemas: {
      body,
      response: objectSchema(
        {
          partialSuccess: objectSchema({
            rejectedSpans: { type: "string", description: "How many spans were not stored." },
            errorMessage: { type: "string", description: "Why." },
          }),
        },
        ["partialSuccess"],
      ),
    },
    statuses: [200, 400, 401, 402, 403],
    handle: handleExportSpans,
  },
];
