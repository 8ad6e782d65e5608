import { encodeCompareRuns } from "../codecs/runs-compare-reply.ts";
import { decodeCompareRuns } from "../codecs/runs-compare-request.ts";
import { compareRunsQuery, comparisonSchema } from "../codecs/runs-compare-schemas.ts";
import { readCallers, route, type Route } from "../route.ts";

/** Runs beside each other. */
export const runComparisonRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/runs/side-by-side",
    tag: "runs",
    summary: "Compare runs",
    description:
      "A row for each config and metadata key, tag, metric aggregate and attribute that some of the runs have. Values differ when their JSON does, whatever the order of keys and the notation of numbers.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: compareRunsQuery, response: comparisonSchema },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeCompareRuns,
    rpc: (clients, request, call) => clients.runs.compareRuns(request, call),
    encode: encodeCompareRuns,
  }),
];
