import type { Route } from "../../route.ts";
import { readCallers } from "../callers.ts";
import { ARCHIVE_TYPE, PARQUET_TYPE } from "../archive/begin-archive.ts";
import { KEPT_MINUTES } from "../../spool/spool.ts";
import { handleExport } from "./handle-export.ts";
import { exportQuery } from "./export-query.ts";
import { exportSchema } from "./export-schema.ts";

/** Exports of runs. */
export const exportRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/export",
    tag: "export",
    summary: "Export runs with all that belongs to them",
    description:
      "As a file. The number of rows of each kind is bounded; where rows are left out, `truncated` and two headers say so. As CSV one flat table, " +
      "with the whole row as JSON in the last column; more than 25 MiB of it are refused. As NDJSON a project or the named runs completely, without bounds " +
      "or other filters: a line for each row, and columns of points and console lines; a file without a last line of the type `end` is not complete. As Parquet the points of the same runs, a row for each: " +
      "run_id, run_name, key, step, value, timestamp, created_at. " +
      `What broke off goes on: for ${KEPT_MINUTES} minutes after the last request that had an export, a request by the same credential at the same address with \`Range\` and \`If-Range\` ` +
      "gets the rest of the same bytes. That holds for bytes that are not compressed, which have an ETag; exports with `Content-Encoding: gzip` have none.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    // It is kept, and written to its end.
    endsWithClient: false,
    requestHeaders: {
      Range:
        "`bytes=<first>-<last>`, `bytes=<first>-` or `bytes=-<count>` of an export that is kept: the one that `If-Range` names, or the latest that the caller asked for at this address.",
      "If-Range":
        "The ETag of an export. Where it is not kept any longer, the answer is a new export as a whole, with status 200.",
    },
    schemas: { query: exportQuery, response: exportSchema, otherTypes: ["text/csv", ARCHIVE_TYPE, PARQUET_TYPE] },
    statuses: [200, 206, 400, 401, 403, 404, 416],
    handle: handleExport,
  },
];
