import { expect, test } from "@jest/globals";
import { runControlRoutes } from "./routes.ts";

const people = { key: { scopes: ["runs:control"] }, session: { roles: ["owner", "admin", "member"] } };
const processes = { key: { scopes: ["sdk:ingest"] }, session: { refused: 403 } };

test.each([
  ["POST", "/api/runs/{run_id}/stop", people, "general", "optional", [200, 400, 401, 403, 404]],
  ["POST", "/api/runs/stop", people, "general", "optional", [200, 400, 401, 403]],
  ["GET", "/api/runs/{run_id}/stop-signal", processes, "control_poll", "none", [200, 401, 403, 404]],
  ["POST", "/api/runs/{run_id}/stop-ack", processes, "general", "none", [200, 400, 401, 403, 404, 409]],
] as const)("%s %s is open to whom the API specification says, and limited so", (...facts) => {
  const [method, path, callers, rate, idempotency, statuses] = facts;
  const found = runControlRoutes.filter((route) => route.method === method && route.path === path);
  expect(found).toEqual([
    expect.objectContaining({ callers: { kind: "credentials", ...callers }, rate, idempotency, statuses }),
  ]);
});
