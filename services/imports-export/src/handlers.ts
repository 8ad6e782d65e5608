import { putChunk } from "./chunks/put-chunk.ts";
import { commitJob } from "./commit/commit-job.ts";
import { importDocument } from "./documents/import-document.ts";
import { exportRuns } from "./export/export-runs.ts";
import { cancelJob, createJob } from "./jobs/create-job.ts";
import { getJob, listJobs } from "./jobs/get-job.ts";
import type { ExportDeps, ExportHandlers, ImportsDeps, ImportsHandlers } from "./deps.ts";

/** Every RPC of imports. */
export function importsHandlers(deps: ImportsDeps): ImportsHandlers {
  return {
    createJob: createJob(deps),
    getJob: getJob(deps),
    listJobs: listJobs(deps),
    putChunk: putChunk(deps),
    commitJob: commitJob(deps),
    cancelJob: cancelJob(deps),
    importDocument: importDocument(deps),
  };
}

/** Every RPC of exports. */
export function exportHandlers(deps: ExportDeps): ExportHandlers {
  return { exportRuns: exportRuns(deps) };
}
