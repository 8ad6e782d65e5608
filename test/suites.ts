import type { Mode } from "./stack/attach.ts";

/**
 * The files whose suites run in both modes, with what can differ between these there. Suites of every other file run with everything in one
 * process; a deep run runs all of them in both. Paths are relative to this folder.
 */
const inBothModes: Readonly<Record<string, string>> = {
  "e2e/runs.test.ts": "the runs service: unary calls, replays of idempotency keys",
  "e2e/run-control.test.ts": "the control service: stop requests over NATS",
  "e2e/metrics.test.ts": "the ingest and ingest-read services: columns of points, compaction",
  "e2e/artifacts.test.ts": "the artifacts service: streams of bytes, S3",
  "e2e/traces.test.ts": "the traces service",
  "e2e/reports.test.ts": "the reports service",
  "e2e/imports.test.ts": "the imports-export service: jobs over NATS, bodies in chunks",
  "e2e/plan-limits.test.ts": "the usage service: leases of tokens",
  "e2e/archive.test.ts": "answers that are streams of lines, from several services",
  "e2e/restore.test.ts": "requests that are streams of lines, to several services",
  "e2e/changes.test.ts": "events of all services over NATS, streams that stay open",
  "e2e/platform.test.ts": "deadlines, health and figures of the processes",
  "e2e/removal.test.ts": "removal by each service, bytes in S3",
  "interop/grpc.test.ts": "each process answers its RPCs to a plain gRPC client",
  "failure/dependencies.test.ts": "PostgreSQL away from one process and from many, SIGTERM to every process",
};

/** The files whose suites run in both modes, relative to this folder. */
export const bothModesFiles: readonly string[] = Object.keys(inBothModes);

/** Returns the modes in which the suites of a test file run. */
export function modesOf(file: string): readonly Mode[] {
  return Object.hasOwn(inBothModes, file) ? ["embedded", "split"] : ["embedded"];
}

/** The files that only a deep run runs, with the reason. */
const inDeepRuns: Readonly<Record<string, string>> = {
  "browser/embed-contents.test.ts": "pixels of embedded charts; what embeds may do is in embed-privacy",
  "browser/dashboard/compare.test.ts": "pages of comparisons, each in both themes",
  "browser/dashboard/parameters.test.ts": "pages of parameters, each in both themes",
  "e2e/archive-pages.test.ts": "an archive with more of each kind than a page has",
  "failure/archive.test.ts": "kills in the middle of an export",
  "failure/changes.test.ts": "promises of seconds, with kills and outages",
  "failure/last-release.test.ts": "processes of the last release with the current schema",
  "failure/signs-of-life.test.ts": "waits for reports of a minute",
  "failure/artifact-steps.test.ts": "a kill between any two steps of an upload",
  "failure/artifact-uploads.test.ts": "kills under load",
  "failure/imports.test.ts": "kills while imports are committed",
  "failure/log-compaction.test.ts": "kills under load",
  "failure/metric-compaction.test.ts": "kills under load",
  "failure/moves-and-copies.test.ts": "kills while runs are moved and copied",
  "failure/restore.test.ts": "kills while an archive is restored",
  "failure/run-control.test.ts": "promises of seconds, with kills and outages",
  "failure/run-creates.test.ts": "kills under load",
  "failure/traces.test.ts": "kills under load",
  "failure/usage-counters.test.ts": "kills under load",
};

/** What they measure depends on a free machine: a deep run runs them after all others, one after another. */
const measuring: Readonly<Record<string, string>> = {
  "e2e/rate-limits.test.ts": "rates of three gateways over seconds",
  "e2e/neighbors.test.ts": "a ratio of waits",
  "e2e/large-imports.test.ts": "a ratio of waits, for large bodies",
  "e2e/worst-bodies.test.ts": "a ratio of waits, for the largest body of each route",
  "attacks/many-requests.test.ts": "CPU and memory of a gateway, under more requests than it serves",
  "attacks/large-documents.test.ts": "CPU and memory of a gateway, with the largest documents",
  "attacks/slow-readers.test.ts": "memory of a gateway, and a minute until slow readers are cut",
};

/** Of the files that only a deep run runs those that it runs at the end, relative to this folder. */
export const measuringFiles: readonly string[] = Object.keys(measuring);

/** The files that only a deep run runs, relative to this folder. */
export const deepFiles: readonly string[] = [...Object.keys(inDeepRuns), ...measuringFiles];
