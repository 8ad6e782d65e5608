import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { EXPORT_LIMITS } from "@tidemark/limits";
import type { ExportRunsRequestSchema } from "@tidemark/proto/imports/v1/export";
import type { Query, Schema } from "../../route.ts";
import { join, object, readField, withDefault } from "../fields/field.ts";
import { word } from "../fields/text.ts";
import { readFilter, runFilter, runOrder } from "../runs/list.ts";
import { runIdList } from "../runs/body-filter.ts";

/** The formats of a bounded export; the first one is the default. */
const BOUNDED_FORMATS = ["json", "csv"] as const;

/** A format of a bounded export. */
export type ExportFormat = (typeof BOUNDED_FORMATS)[number];

/** The formats of a complete export. */
const COMPLETE_FORMATS = ["ndjson", "parquet"] as const;

/** A format of a complete export. */
export type CompleteFormat = (typeof COMPLETE_FORMATS)[number];

const format = withDefault<ExportFormat | CompleteFormat>(
  word([...BOUNDED_FORMATS, ...COMPLETE_FORMATS]),
  BOUNDED_FORMATS[0],
  { default: BOUNDED_FORMATS[0] },
);

const { selectedRunIds, runs: runsMax } = EXPORT_LIMITS;
const runIds = runIdList(
  selectedRunIds,
  `Ids of 1 to ${selectedRunIds} runs, separated by commas; repeated ones count once. All other filters are then ignored. Without them: the first ${runsMax} runs that the filter lets through.`,
);
const runs = runIdList(selectedRunIds, "The same, read where run_ids is absent.");

/** What a complete export takes: it has all of a project or of the named runs. */
const completeNames: readonly string[] = ["format", "project", "run_ids", "runs"];

const filters = join(join(object({ format }), runFilter), runOrder);

/** Query of GET /api/export. */
export const exportQuery: Schema = {
  ...filters.schema,
  properties: { ...(filters.schema["properties"] as object), run_ids: runIds.schema, runs: runs.schema },
};

/** Returns the format that a query requests. @throws bad_request */
export function readExportFormat(query: Query): ExportFormat | CompleteFormat {
  return readField(format, query, "format");
}

/** Returns whether an export in a format is complete. */
export function isComplete(format: ExportFormat | CompleteFormat): format is CompleteFormat {
  return COMPLETE_FORMATS.some((known) => known === format);
}

/** Reads which runs a bounded export is about. @throws bad_request */
export function readExportSelection(query: Query): MessageInitShape<typeof ExportRunsRequestSchema> {
  const named = readNamedRuns(query);
  return named === undefined ? { filter: readFilter(query), order: runOrder.read(query) } : { runIds: named };
}

/** Reads which project or runs a complete export is about. @throws bad_request also for filters, which it would otherwise seem to obey */
export function readCompleteSelection(query: Query): { readonly runIds: string[]; readonly project: string } {
  for (const name of Object.keys(exportQuery["properties"] as object)) {
    if (!completeNames.includes(name) && query[name] !== undefined) {
      throw badRequest(`${name} cannot be used with format=${readExportFormat(query)}`, name);
    }
  }
  return { runIds: readNamedRuns(query) ?? [], project: readFilter(query).project ?? "" };
}

function readNamedRuns(query: Query): string[] | undefined {
  const named = readField(runIds, query, "run_ids") ?? readField(runs, query, "runs");
  return named === undefined ? undefined : [...named];
}
