import { beforeAll, describe, expect, test } from "@jest/globals";
import { createMetrics } from "./index.ts";

describe("the text of the metrics", () => {
  let lines: ReadonlySet<string>;
  beforeAll(async () => {
    const metrics = createMetrics("gateway", "1.2.3");
    for (const status of [200, 200, 404])
      metrics.httpRequest({ method: "GET", route: "/api/runs/{run_id}", status, seconds: 0.02 });
    metrics.httpRequest({ method: "BREW", route: "unmatched", status: 405, seconds: 0.001 });
    metrics.rpcCall({
      side: "client",
      service: "RunsService",
      method: "GetRun",
      code: "ok",
      seconds: 0.003,
    });
    metrics.pgQuery({ statement: "insertRun", seconds: 0.0004, ok: true });
    metrics.pgQuery({ statement: "insertRun", seconds: 20, ok: false });
    metrics.watchPool("runs", () => ({ inUse: 99, idle: 0, waiting: 0, max: 99 }));
    metrics.watchPool("runs", () => ({ inUse: 3, idle: 1, waiting: 2, max: 10 }));
    metrics.watchTurns(() => 4);
    metrics.watchExports(() => ({ exports: 3, bytes: 5000 }));
    metrics.outboxLag("runs", 1.25);
    for (const ok of [true, true, false])
      metrics.compactionVisit({ kind: "logs", ok, rows: 5, blocks: 2, seconds: 0.2 });
    metrics.compactionBacklog({ kind: "logs", lagSeconds: 3.5, rowsWaiting: 77 });
    for (const writes of [1, 7, 40]) metrics.metricGroup(writes);
    metrics.metricsRefused();
    lines = new Set((await metrics.metricsText()).split("\n"));
  });

  test.each([
    ["names the version", 'tidemark_build_info{version="1.2.3",service="gateway"} 1'],
    [
      "counts requests by route template, method and status",
      'tidemark_http_requests_total{method="GET",route="/api/runs/{run_id}",status="200",service="gateway"} 2',
    ],
    [
      "distinguishes statuses",
      'tidemark_http_requests_total{method="GET",route="/api/runs/{run_id}",status="404",service="gateway"} 1',
    ],
    [
      "keeps invented methods out of the labels",
      'tidemark_http_requests_total{method="other",route="unmatched",status="405",service="gateway"} 1',
    ],
    [
      "has request times in cumulative buckets, above",
      'tidemark_http_request_seconds_bucket{le="0.025",service="gateway",method="GET",route="/api/runs/{run_id}"} 3',
    ],
    [
      "has request times in cumulative buckets, below",
      'tidemark_http_request_seconds_bucket{le="0.01",service="gateway",method="GET",route="/api/runs/{run_id}"} 0',
    ],
    [
      "counts calls by service, method and code",
      'tidemark_rpc_calls_total{side="client",rpc_service="RunsService",method="GetRun",code="ok",service="gateway"} 1',
    ],
    [
      "sums the time of calls",
      'tidemark_rpc_call_seconds_sum{service="gateway",side="client",rpc_service="RunsService",method="GetRun"} 0.003',
    ],
    [
      "has statement times by name",
      'tidemark_pg_query_seconds_count{service="gateway",statement="insertRun",outcome="ok"} 1',
    ],
    [
      "has failed statements apart",
      'tidemark_pg_query_seconds_sum{service="gateway",statement="insertRun",outcome="failed"} 20',
    ],
    [
      "reads the pool last watched under a name",
      'tidemark_pg_pool_connections{pool="runs",state="in_use",service="gateway"} 3',
    ],
    ["shows the size of the pool", 'tidemark_pg_pool_connections{pool="runs",state="max",service="gateway"} 10'],
    ["shows who waits for a connection", 'tidemark_pg_pool_waiting{pool="runs",service="gateway"} 2'],
    ["shows who waits for a turn", 'tidemark_turns_waiting{service="gateway"} 4'],
    ["counts exports on disk", 'tidemark_exports_on_disk{service="gateway"} 3'],
    ["shows the bytes of exports on disk", 'tidemark_export_spool_bytes{service="gateway"} 5000'],
    ["counts compacted rows", 'tidemark_compaction_rows_total{kind="logs",service="gateway"} 15'],
    ["counts the blocks of compactors", 'tidemark_compaction_blocks_total{kind="logs",service="gateway"} 6'],
    [
      "has the visits of compactors, failed ones apart",
      'tidemark_compaction_visit_seconds_count{service="gateway",kind="logs",outcome="failed"} 1',
    ],
    ["shows the lag of compaction", 'tidemark_compaction_lag_seconds{kind="logs",service="gateway"} 3.5'],
    ["shows what waits for compaction", 'tidemark_compaction_rows_waiting{kind="logs",service="gateway"} 77'],
    ["counts writes that share a commit", 'tidemark_metric_group_writes_sum{service="gateway"} 48'],
    ["counts commits by their writes", 'tidemark_metric_group_writes_bucket{le="8",service="gateway"} 2'],
    ["counts writes that were refused", 'tidemark_metric_writes_refused_total{service="gateway"} 1'],
    ["shows the lag of an outbox", 'tidemark_outbox_lag_seconds{outbox="runs",service="gateway"} 1.25'],
  ])("%s", (_, line) => {
    expect([...lines]).toContain(line);
  });

  test.each(["nodejs_eventloop_utilization", "nodejs_eventloop_lag_p99_seconds", "process_resident_memory_bytes"])(
    "shows %s of the process",
    (name) => {
      const line = [...lines].find((text) => text.startsWith(`${name}{`));
      expect(Number(line?.split(" ")[1])).toBeGreaterThanOrEqual(0);
    },
  );
});

test("two processes in one test do not share their registries", async () => {
  const [one, other] = [createMetrics("one", "1.2.3"), createMetrics("other", "1.2.3")];
  one.outboxLag("x", 1);
  expect(await other.metricsText()).not.toContain('outbox="x"');
  expect(other.contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
});
