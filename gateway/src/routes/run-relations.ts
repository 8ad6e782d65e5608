import { decodeForkRun } from "../codecs/runs-fork-request.ts";
import { decodeGetLineage } from "../codecs/runs-lineage-request.ts";
import { encodeForkRun, encodeGetLineage } from "../codecs/runs-relations-reply.ts";
import { forkedRunSchema, forkRunSchema, lineageSchema } from "../codecs/runs-relations-schemas.ts";
import { readCallers, route, type Callers, type Route } from "../route.ts";

/** Who reads the parent and writes the child: a key with both scopes, a session that may write. */
const forkCallers: Callers = {
  kind: "credentials",
  key: { allScopes: ["export:read", "sdk:ingest"] },
  session: { roles: ["owner", "admin", "member"] },
};

/** Where runs come from. */
export const runRelationsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/runs/{run_id}/forks",
    tag: "runs",
    summary: "Fork a run",
    description:
      "Creates a running child in the same project, linked to its parent. Does not start a training, and copies no metrics and no artifacts.",
    callers: forkCallers,
    rate: "ingest",
    idempotency: "optional",
    body: "optional",
    exactNumbers: true,
    schemas: { body: forkRunSchema, response: forkedRunSchema },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeForkRun,
    rpc: (clients, request, call) => clients.runs.forkRun(request, call),
    encode: encodeForkRun,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/lineage",
    tag: "runs",
    summary: "Parent and children of a run",
    description: "At most 250 metric keys of each run are shown. Relatives that the caller may not see are left out.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { response: lineageSchema },
    statuses: [200, 401, 403, 404],
    decode: decodeGetLineage,
    rpc: (clients, request, call) => clients.runs.getLineage(request, call),
    encode: encodeGetLineage,
  }),
];
