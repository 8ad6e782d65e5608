import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { hostedPlans } from "@tidemark/limits";
import { GetUsageResponseSchema } from "@tidemark/proto/usage/v1/usage";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { bodyOf } from "../response-schema.fixture.ts";
import { inputOf } from "../route-input.fixture.ts";
import { encodeUsage } from "./routes.ts";

const orgId = "0a1b2c3d-0000-4000-8000-000000000001";

test("the document has the shape of its contract", () => {
  const identity = create(IdentitySchema, { kind: CallerKind.API_KEY, orgId });
  const usage = create(GetUsageResponseSchema, {
    orgSlug: "acme",
    planTier: "free",
    generatedAt: "2026-01-16T12:00:00.000Z",
    periodStartsAt: "2026-01-01T00:00:00.000Z",
    periodEndsAt: "2026-02-01T00:00:00.000Z",
    numbers: {
      seats: 3n,
      projects: 1n,
      metricPoints: 6n,
      metricPointsTotal: 9n,
      storageBytes: 2048n,
      storageByKind: { points: 144n, documents: 1904n },
    },
    warnings: [
      {
        target: "seats",
        status: "paid_extra_seats",
        value: 3n,
        limit: 2n,
        ratio: 1.5,
        policy: "paid_extra_seats",
        blocking: false,
        message: "1 seats are above the 2 of the plan",
      },
    ],
    forecasts: [
      { target: "api_requests", projected: 5n, usedUpOn: "" },
      { target: "metric_points", projected: 12n, usedUpOn: "2026-01-20" },
      { target: "trace_events", projected: 0n, usedUpOn: "" },
    ],
    enforced: true,
    plans: new TextEncoder().encode(
      JSON.stringify(Object.fromEntries(Object.entries(hostedPlans).map(([id, plan]) => [id, { id, ...plan }]))),
    ),
  });
  const body = bodyOf(encodeUsage(usage, {}, inputOf({ identity })), "GET /api/usage");
  expect(body).toMatchObject({
    schema_version: 1,
    limits_enforced: true,
    usage_period: { reset_at: "2026-02-01T00:00:00.000Z" },
    plans: { pro: { id: "pro", rate_limit_rps: 50 } },
    organizations: [
      {
        org_id: orgId,
        org_slug: "acme",
        plan: { id: "free", api_request_overage_cents_per_million: null },
        limits: { projects: 2, included_storage_bytes: 2 * 1024 ** 3 },
        usage: {
          seats: 3,
          paid_extra_seats: 1,
          metric_points: 6,
          metric_points_current_period: 6,
          metric_points_retained_total: 9,
          storage_bytes_for_write_gate: 2048,
          billable_storage_bytes: null,
        },
        warnings: [{ code: "seats_paid_extra_seats", value: 3, ratio: 1.5 }],
        forecast: {
          api_requests: { projected: 5, used_up_on: null },
          metric_points: { projected: 12, used_up_on: "2026-01-20" },
        },
      },
    ],
  });
});
