import type { Plans } from "./plans.ts";

const GIB = 1024 ** 3;
const TIB = 1024 ** 4;

/**
 * The plans of the hosted service (API specification, Rate limits; prices and quotas as its public usage document shows them). It does not show
 * the trace events of the middle plan: 50 million lie between the others as its points do.
 */
export const hostedPlans: Plans = {
  free: {
    label: "Free",
    monthly_base_usd: 0,
    included_seats: 2,
    included_storage_bytes: 2 * GIB,
    projects: 2,
    runs: 100,
    metric_points: 1_000_000,
    trace_events: 100_000,
    api_requests: 500_000,
    api_request_overage_cents_per_million: null,
    rate_limit_rps: 5,
    rate_limit_burst: 30,
    ingest_rate_limit_rps: 2,
    warehouse_kind: "shared",
    min_replica_memory_gb: 8,
    max_replica_memory_gb: 8,
    num_replicas: 1,
  },
  pro: {
    label: "Pro",
    monthly_base_usd: 199,
    included_seats: 3,
    included_storage_bytes: TIB,
    projects: 100,
    runs: 100_000,
    metric_points: 250_000_000,
    trace_events: 50_000_000,
    api_requests: 25_000_000,
    api_request_overage_cents_per_million: 200,
    rate_limit_rps: 50,
    rate_limit_burst: 250,
    ingest_rate_limit_rps: 25,
    warehouse_kind: "standard",
    min_replica_memory_gb: 12,
    max_replica_memory_gb: 12,
    num_replicas: 1,
  },
  premium: {
    label: "Premium",
    monthly_base_usd: 699,
    included_seats: 10,
    included_storage_bytes: 5 * TIB,
    projects: 500,
    runs: 1_000_000,
    metric_points: 2_000_000_000,
    trace_events: 500_000_000,
    api_requests: 150_000_000,
    api_request_overage_cents_per_million: 100,
    rate_limit_rps: 200,
    rate_limit_burst: 1000,
    ingest_rate_limit_rps: 100,
    warehouse_kind: "dedicated",
    min_replica_memory_gb: 16,
    max_replica_memory_gb: 16,
    num_replicas: 2,
  },
};
