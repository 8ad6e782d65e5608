import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ImportDocumentRequestSchema, ImportDocumentResponse } from "@tidemark/proto/imports/v1/imports";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { object } from "../fields/field.ts";
import { queryText, text, textOrAbsent } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { booleanSchema, listSchema, objectSchema } from "../schemas.ts";
import { jobJson, jobSchema, stagedCountsJson, stagedCountsSchema } from "./rows.ts";

/** Trackers whose documents are imported. */
export const documentSources = ["wandb", "neptune", "mlflow"] as const;

/** Query of POST /api/imports/{source}. */
export const importDocumentQuery = object({
  dry_run: queryText({ description: "Exactly `true`: validate and store nothing." }),
});

/** Body of POST /api/imports/{source}, which the service reads. */
export function importDocumentSchema(source: (typeof documentSources)[number]): Schema {
  const runs = listSchema({ type: "object", description: `As exporters of ${source} write them.` });
  if (source === "mlflow") return objectSchema({ project: textOrAbsent().schema, runs }, ["project"]);
  return objectSchema({ project: text().schema, runs });
}

/** Of the answer. */
export const importedDocumentSchema = objectSchema(
  { dry_run: booleanSchema, summary: stagedCountsSchema, import: jobSchema },
  ["import"],
);

const utf8 = new TextEncoder();

/** Returns the decoder of POST /api/imports/{source}. @throws bad_request */
export function decodeImportDocument(source: (typeof documentSources)[number]) {
  return ({ body, query }: RouteInput): MessageInitShape<typeof ImportDocumentRequestSchema> => ({
    source,
    bodyJson: utf8.encode(JSON.stringify(body)),
    dryRun: importDocumentQuery.read(query).dryRun === "true",
  });
}

/** `{"dry_run", "summary", "import"}`; without `import` after a dry run. */
export function encodeImportDocument(
  { counts, job }: ImportDocumentResponse,
  { dryRun }: MessageInitShape<typeof ImportDocumentRequestSchema>,
): RouteReply {
  const summary = stagedCountsJson(counts);
  if (dryRun === true) return { body: { dry_run: true, summary } };
  return { body: { dry_run: false, summary, import: jobJson(requireMessage(job)) } };
}
