import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ImportDocumentRequestSchema, ImportDocumentResponse } from "@tidemark/proto/imports/v1/imports";
import { IMPORT_LIMITS } from "@tidemark/limits";
import { route, type Route, type RouteInput, type RouteReply, type Schema } from "../../route.ts";
import { object } from "../fields/field.ts";
import { queryText, text, textOrAbsent } from "../fields/text.ts";
import { booleanSchema, listSchema, objectSchema, requireMessage } from "../replies.ts";
import { importers, importReaders } from "../callers.ts";
import { chunkSchema, countsSchema, jobJson, jobSchema, stagedCountsJson, stagedCountsSchema } from "./rows.ts";
import {
  chunkBodySchema,
  createJobBody,
  decodeCreateJob,
  decodeImportId,
  encodeJob,
  encodeListJobs,
  handleCommitJob,
  handlePutChunk,
} from "./jobs.ts";

/** Trackers whose documents are imported. */
const documentSources = ["wandb", "neptune", "mlflow"] as const;

/** Query of POST /api/imports/{source}. */
const importDocumentQuery = object({
  dry_run: queryText({ description: "Exactly `true`: validate and store nothing." }),
});

/** Body of POST /api/imports/{source}, which the service reads. */
function importDocumentSchema(source: (typeof documentSources)[number]): Schema {
  const runs = listSchema({ type: "object", description: `As exporters of ${source} write them.` });
  if (source === "mlflow") return objectSchema({ project: textOrAbsent().schema, runs }, ["project"]);
  return objectSchema({ project: text().schema, runs });
}

/** Of the answer. */
const importedDocumentSchema = objectSchema(
  { dry_run: booleanSchema, summary: stagedCountsSchema, import: jobSchema },
  ["import"],
);

const utf8 = new TextEncoder();

/** Returns the decoder of POST /api/imports/{source}. @throws bad_request */
function decodeImportDocument(source: (typeof documentSources)[number]) {
  return ({ body, query }: RouteInput): MessageInitShape<typeof ImportDocumentRequestSchema> => ({
    source,
    bodyJson: utf8.encode(JSON.stringify(body)),
    dryRun: importDocumentQuery.read(query).dryRun === "true",
  });
}

/** `{"dry_run", "summary", "import"}`; without `import` after a dry run. */
function encodeImportDocument(
  { counts, job }: ImportDocumentResponse,
  { dryRun }: MessageInitShape<typeof ImportDocumentRequestSchema>,
): RouteReply {
  const summary = stagedCountsJson(counts);
  if (dryRun === true) return { body: { dry_run: true, summary } };
  return { body: { dry_run: false, summary, import: jobJson(requireMessage(job)) } };
}

const oneJob = objectSchema({ job: jobSchema });

const documentRoutes: readonly Route[] = documentSources.map((source) =>
  route({
    method: "POST",
    path: `/api/imports/${source}`,
    tag: "imports",
    summary: `Import runs from a document of ${source}`,
    description: "Every call makes new runs, also of what was imported before.",
    callers: importers,
    rate: "import",
    idempotency: "none",
    body: "required",
    exactNumbers: true,
    schemas: {
      query: importDocumentQuery.schema,
      body: importDocumentSchema(source),
      response: importedDocumentSchema,
    },
    statuses: [200, 400, 401, 402, 403],
    decode: decodeImportDocument(source),
    rpc: (clients, request, call) => clients.imports.importDocument(request, call),
    encode: encodeImportDocument,
  }),
);

/** Imports from other trackers. */
export const importsRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/imports",
    tag: "imports",
    summary: `The ${IMPORT_LIMITS.listedMax} newest imports`,
    description: "Shows at most 100 runs and chunks of each, and the first 20 warnings, whose texts are cut.",
    callers: importReaders,
    rate: "general",
    idempotency: "none",
    schemas: { response: objectSchema({ imports: listSchema(jobSchema) }) },
    statuses: [200, 401, 403],
    decode: () => ({}),
    rpc: (clients, request, call) => clients.imports.listJobs(request, call),
    encode: encodeListJobs,
  }),
  route({
    method: "POST",
    path: "/api/imports/jobs",
    tag: "imports",
    summary: "Begin an import",
    description: "The job takes chunks until the final one, and stores nothing before it is committed.",
    callers: importers,
    rate: "import",
    idempotency: "none",
    body: "required",
    schemas: { body: createJobBody.schema, response: oneJob },
    statuses: [200, 400, 401, 402, 403],
    decode: decodeCreateJob,
    rpc: (clients, request, call) => clients.imports.createJob(request, call),
    encode: encodeJob,
  }),
  route({
    method: "GET",
    path: "/api/imports/jobs/{import_id}",
    tag: "imports",
    summary: "An import and its progress",
    callers: importReaders,
    rate: "general",
    idempotency: "none",
    schemas: { response: oneJob },
    statuses: [200, 401, 403, 404],
    decode: decodeImportId,
    rpc: (clients, request, call) => clients.imports.getJob(request, call),
    encode: encodeJob,
  }),
  {
    method: "POST",
    path: "/api/imports/jobs/{import_id}/chunks",
    tag: "imports",
    summary: "Send a part of an import",
    description:
      "Secrets are redacted before anything is stored. The same chunk again changes nothing; the final one is refused unless all runs that are named are there.",
    callers: importers,
    rate: "import",
    idempotency: "none",
    body: "required",
    streamed: "json",
    bodyBytesMax: IMPORT_LIMITS.chunkBytesMax,
    schemas: {
      body: chunkBodySchema,
      response: objectSchema({ job: jobSchema, chunk: chunkSchema, duplicate: booleanSchema }),
    },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    handle: handlePutChunk,
  },
  {
    method: "POST",
    path: "/api/imports/jobs/{import_id}/commit",
    tag: "imports",
    summary: "Store what an import has staged",
    description:
      "Once: runs of the source that the project has already are skipped; those of TensorBoard get the points that they do not have. Commits of an organization run one after another, in the order of their requests. The work continues if the client disconnects; a repeated request waits for it. With `Prefer: respond-async` the answer is sent after at most two seconds, in any status of the job.",
    callers: importers,
    rate: "import",
    idempotency: "none",
    schemas: { response: objectSchema({ job: jobSchema, summary: countsSchema }) },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    handle: handleCommitJob,
  },
  route({
    method: "POST",
    path: "/api/imports/jobs/{import_id}/cancel",
    tag: "imports",
    summary: "Give an import up",
    callers: importers,
    rate: "import",
    idempotency: "none",
    schemas: { response: oneJob },
    statuses: [200, 401, 403, 404, 409],
    decode: decodeImportId,
    rpc: (clients, request, call) => clients.imports.cancelJob(request, call),
    encode: encodeJob,
  }),
  ...documentRoutes,
];
