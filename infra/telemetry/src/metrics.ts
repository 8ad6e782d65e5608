import { performance } from "node:perf_hooks";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** The state of a connection pool at one moment, in connections; `waiting` counts callers without one. */
export type PoolState = {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
  readonly max: number;
};

/**
 * What a process measures about itself. Labels are bounded by the code, never by the caller: a route is its template,
 * a statement its name, and no id of a run, organization or user is ever a label. Durations are seconds.
 */
export type Metrics = {
  /** An answered HTTP request. `route` is the template (`/api/runs/{run_id}`), or `unmatched`. */
  httpRequest(request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
  /** A finished call between modules, measured at one side. `code` is the RPC code, `ok` on success. */
  rpcCall(call: {
    readonly side: "client" | "server";
    readonly service: string;
    readonly method: string;
    readonly code: string;
    readonly seconds: number;
  }): void;
  /** A finished statement, under the name of its function; `ok` is false if it threw. */
  pgQuery(query: { readonly statement: string; readonly seconds: number; readonly ok: boolean }): void;
  /** Reads the pool at each scrape. A second call with the same name replaces the first. */
  watchPool(pool: string, read: () => PoolState): void;
  /** Reads at each scrape how many requests wait for a turn of their organization. Call it once. */
  watchTurns(waiting: () => number): void;
  /** Reads at each scrape how many exports are on disk, and their bytes. Call it once. */
  watchExports(read: () => { readonly exports: number; readonly bytes: number }): void;
  /** Age of the oldest outbox row that is not published yet, 0 if there is none. */
  outboxLag(outbox: string, seconds: number): void;
  /** A number of metric writes that share a commit. */
  metricGroup(writes: number): void;
  /** Counts a metric write that was refused because too many are waiting. */
  metricsRefused(): void;
  /** Counts a visit of a compactor: the landing segments that it took, and the blocks that it wrote in their place. */
  compactionVisit(visit: {
    readonly kind: string;
    readonly ok: boolean;
    readonly rows: number;
    readonly blocks: number;
    readonly seconds: number;
  }): void;
  /** How long the oldest waiting work has been due, and how many landing segments wait. */
  compactionBacklog(backlog: {
    readonly kind: string;
    readonly lagSeconds: number;
    readonly rowsWaiting: number;
  }): void;
  /**
   * Everything above and the process itself (CPU, memory, garbage collection, event loop) in the Prometheus text
   * format, version 0.0.4.
   */
  metricsText(): Promise<string>;
  /** Value of `Content-Type` for `metricsText`. */
  readonly contentType: string;
};

/** Upper bounds in seconds: a durable write takes about a millisecond, everything answers within 10 s. */
const durationBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const httpMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Creates the metrics of one process in their own registry; every series has the label `service`, and `tidemark_build_info`
 * the version. Call it once per process.
 */
export function createMetrics(service: string, version: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  watchEventLoop(registry);
  const registers = [registry];

  new Gauge({
    name: "tidemark_build_info",
    help: "Always 1; the label says which version runs.",
    labelNames: ["version"],
    registers,
  }).set({ version }, 1);
  const httpRequests = new Counter({
    name: "tidemark_http_requests_total",
    help: "HTTP requests answered.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const httpSeconds = new Histogram({
    name: "tidemark_http_request_seconds",
    help: "Time from the request's headers to the end of the answer.",
    labelNames: ["method", "route"],
    buckets: durationBuckets,
    registers,
  });
  const rpcCalls = new Counter({
    name: "tidemark_rpc_calls_total",
    help: "Calls between modules that have ended.",
    labelNames: ["side", "rpc_service", "method", "code"],
    registers,
  });
  const rpcSeconds = new Histogram({
    name: "tidemark_rpc_call_seconds",
    help: "Time of a call between modules.",
    labelNames: ["side", "rpc_service", "method"],
    buckets: durationBuckets,
    registers,
  });
  const pgSeconds = new Histogram({
    name: "tidemark_pg_query_seconds",
    help: "Time of a statement, from sending it to its last row.",
    labelNames: ["statement", "outcome"],
    buckets: durationBuckets,
    registers,
  });
  const outboxLag = new Gauge({
    name: "tidemark_outbox_lag_seconds",
    help: "Age of the oldest outbox row that is not published yet.",
    labelNames: ["outbox"],
    registers,
  });
  const compaction = compactionMetrics(registers);
  const pools = new Map<string, () => PoolState>();
  watchPools(registry, pools);

  return {
    httpRequest({ method, route, status, seconds }) {
      const known = httpMethods.has(method) ? method : "other";
      httpRequests.inc({ method: known, route, status });
      httpSeconds.observe({ method: known, route }, seconds);
    },
    rpcCall({ side, service: rpcService, method, code, seconds }) {
      rpcCalls.inc({ side, rpc_service: rpcService, method, code });
      rpcSeconds.observe({ side, rpc_service: rpcService, method }, seconds);
    },
    pgQuery: ({ statement, seconds, ok }) => pgSeconds.observe({ statement, outcome: ok ? "ok" : "failed" }, seconds),
    watchPool: (pool, read) => void pools.set(pool, read),
    watchTurns: (waiting) =>
      void watch(registry, {
        name: "tidemark_turns_waiting",
        help: "Requests that wait because the event loop is late and much of their organization is served already.",
        labelNames: [],
        collect() {
          this.set(waiting());
        },
      }),
    watchExports: (read) => {
      const watchOne = (name: string, help: string, what: "exports" | "bytes"): void =>
        void watch(registry, {
          name,
          help,
          labelNames: [],
          collect() {
            this.set(read()[what]);
          },
        });
      watchOne("tidemark_exports_on_disk", "Exports that are read from disk or kept for a while.", "exports");
      watchOne("tidemark_export_spool_bytes", "Bytes of the exports on disk.", "bytes");
    },
    outboxLag: (outbox, seconds) => outboxLag.set({ outbox }, seconds),
    ...metricWriteMetrics(registers),
    ...compaction,
    metricsText: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function metricWriteMetrics(registers: Registry[]): Pick<Metrics, "metricGroup" | "metricsRefused"> {
  const writes = new Histogram({
    name: "tidemark_metric_group_writes",
    help: "Metric writes that share a commit.",
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers,
  });
  const refused = new Counter({
    name: "tidemark_metric_writes_refused_total",
    help: "Metric writes refused because too many are waiting to be stored.",
    registers,
  });
  return { metricGroup: (count) => writes.observe(count), metricsRefused: () => refused.inc() };
}

function compactionMetrics(registers: Registry[]): Pick<Metrics, "compactionVisit" | "compactionBacklog"> {
  const seconds = new Histogram({
    name: "tidemark_compaction_visit_seconds",
    help: "Time that a compactor spent on one thing.",
    labelNames: ["kind", "outcome"],
    buckets: durationBuckets,
    registers,
  });
  const rows = new Counter({
    name: "tidemark_compaction_rows_total",
    help: "Landing segments that were compacted.",
    labelNames: ["kind"],
    registers,
  });
  const blocks = new Counter({
    name: "tidemark_compaction_blocks_total",
    help: "Blocks that compactors wrote.",
    labelNames: ["kind"],
    registers,
  });
  const lag = new Gauge({
    name: "tidemark_compaction_lag_seconds",
    help: "For how long the work that waits longest has been due, of all processes together.",
    labelNames: ["kind"],
    registers,
  });
  const waiting = new Gauge({
    name: "tidemark_compaction_rows_waiting",
    help: "About how many landing segments wait for compaction, of all processes together.",
    labelNames: ["kind"],
    registers,
  });
  return {
    compactionVisit(visit) {
      seconds.observe({ kind: visit.kind, outcome: visit.ok ? "ok" : "failed" }, visit.seconds);
      rows.inc({ kind: visit.kind }, visit.rows);
      blocks.inc({ kind: visit.kind }, visit.blocks);
    },
    compactionBacklog({ kind, lagSeconds, rowsWaiting }) {
      lag.set({ kind }, lagSeconds);
      waiting.set({ kind }, rowsWaiting);
    },
  };
}

function watchPools(registry: Registry, pools: ReadonlyMap<string, () => PoolState>): void {
  watch(registry, {
    name: "tidemark_pg_pool_connections",
    help: "Connections of a pool by state: in_use, idle, and the most it may have.",
    labelNames: ["pool", "state"],
    collect() {
      for (const [pool, read] of pools) {
        const { inUse, idle, max } = read();
        this.set({ pool, state: "in_use" }, inUse);
        this.set({ pool, state: "idle" }, idle);
        this.set({ pool, state: "max" }, max);
      }
    },
  });
  watch(registry, {
    name: "tidemark_pg_pool_waiting",
    help: "Callers that wait for a connection of a pool.",
    labelNames: ["pool"],
    collect() {
      for (const [pool, read] of pools) this.set({ pool }, read().waiting);
    },
  });
}

/** Measures the share of time since the last scrape in which the event loop was busy. */
function watchEventLoop(registry: Registry): void {
  let last = performance.eventLoopUtilization();
  watch(registry, {
    name: "nodejs_eventloop_utilization",
    help: "Share of the time since the last scrape in which the event loop was busy, 0 to 1.",
    labelNames: [],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}

/** Adds a gauge that is read at each scrape; the registry keeps it. */
function watch<L extends string>(
  registry: Registry,
  options: { name: string; help: string; labelNames: L[]; collect(this: Gauge<L>): void },
): Gauge<L> {
  return new Gauge({ ...options, registers: [registry] });
}
