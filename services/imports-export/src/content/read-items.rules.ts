import { badRequest } from "@tidemark/errors";
import { ATTRIBUTE_TYPES, HISTOGRAM_COUNTS_MAX, OBJECT_VALUE_BYTES_MAX } from "@tidemark/limits";
import { artifactTypeOf, readTime } from "./read-values.rules.ts";
import type { SourceArtifact, SourceAttribute, SourceRun } from "./content.rules.ts";
import {
  firstOf,
  isObject,
  isStorable,
  numberOf,
  readName,
  readObject,
  readSizeBytes,
  readSourceId,
  readStep,
  readTags,
  TEXT_BYTES_MAX,
  writeStored,
  type Fields,
} from "./read-fields.rules.ts";

/** The origin of imported runs, as stated in their metadata. */
export type Origin = {
  /** Undefined for imports without a number. */
  readonly jobId: number;
  readonly sourceType: string;
  readonly sourceProject: string | null;
};

/** The fields of an item that may name its run. */
export const RUN_ID_NAMES = ["source_run_id", "external_run_id", "run_id"];

/** Maps a status of another tracker (contract of imports). */
export function statusOf(status: unknown): SourceRun["status"] {
  switch (typeof status === "string" ? status.trim().toLowerCase() : "") {
    case "running":
      return "running";
    case "failed":
    case "crashed":
    case "killed":
      return "failed";
    default:
      return "finished";
  }
}

/** A run from a reader, before its origin is noted. */
export type ReadRun = {
  readonly id: string;
  /** Undefined: the id. */
  readonly name: string | undefined;
  readonly status: SourceRun["status"];
  readonly config: Fields;
  readonly tags: readonly string[];
  readonly metadata: Fields;
  readonly startedUs: number | null;
  readonly finishedUs: number | null;
};

/** Reads a run of a chunk. @throws bad_request */
export function readRun(item: unknown): ReadRun {
  if (!isObject(item)) throw badRequest("must be an object");
  const name = firstOf(item, ["name"]);
  return {
    id: readSourceId(firstOf(item, RUN_ID_NAMES), "source_run_id"),
    name: name === undefined ? undefined : readName(name, "name"),
    status: statusOf(item["status"]),
    config: readObject(item["config"], "config"),
    tags: readTags(item["tags"], "tags"),
    metadata: readObject(item["metadata"], "metadata"),
    startedUs: readTime(item["started_at"], "started_at"),
    finishedUs: readTime(item["finished_at"], "finished_at"),
  };
}

/** Notes the origin of a run in its metadata and tags, and returns the run in its stored form. @throws bad_request */
export function noteOrigin(run: ReadRun, origin: Origin): SourceRun {
  const { id, config, metadata, ...kept } = run;
  const { jobId, sourceType, sourceProject } = origin;
  return {
    ...kept,
    id,
    name: kept.name ?? cutName(id),
    config: writeStored(config, "config"),
    tags: [...new Set([...run.tags, "imported", sourceType])],
    metadata: writeStored(
      {
        ...metadata,
        source: sourceType,
        import: {
          job_id: jobId,
          source_type: sourceType,
          source_project: sourceProject,
          external_project_id: sourceProject,
          external_run_id: id,
          complete: true,
        },
      },
      "metadata",
    ),
  };
}

/** Cuts an id to the length of a name. */
export function cutName(id: string): string {
  if (Buffer.byteLength(id) <= TEXT_BYTES_MAX) return id;
  return Buffer.from(id)
    .subarray(0, TEXT_BYTES_MAX)
    .toString("utf8")
    .replace(/\uFFFD+$/, "");
}

/** Reads an attribute. @throws bad_request */
export function readAttribute(item: Fields): Omit<SourceAttribute, "source"> {
  const type = ATTRIBUTE_TYPES.find((known) => known === item["type"]);
  if (type === undefined) throw badRequest(`type must be one of ${ATTRIBUTE_TYPES.join(", ")}`, "type");
  if (!Object.hasOwn(item, "value")) throw badRequest("value is required", "value");
  if (type === "histogram_series") requireHistogram(item["value"]);
  const value = writeStored(item["value"], "value");
  if (type === "histogram_series" && Buffer.byteLength(value) > OBJECT_VALUE_BYTES_MAX) {
    throw badRequest(`value must have at most ${OBJECT_VALUE_BYTES_MAX} bytes`, "value");
  }
  return {
    path: readName(item["path"], "path"),
    type,
    step: readStep(item["step"], "step"),
    timeUs: readTime(item["timestamp"], "timestamp"),
    value,
    summary: writeStored(readObject(item["summary"], "summary"), "summary"),
  };
}

function requireHistogram(value: unknown): void {
  const { bins, counts } = isObject(value) ? value : { bins: undefined, counts: undefined };
  const isNumbers = (list: unknown): list is unknown[] =>
    Array.isArray(list) && list.length > 0 && list.every((item) => Number.isFinite(numberOf(item)));
  const fits =
    isNumbers(bins) &&
    isNumbers(counts) &&
    counts.length <= HISTOGRAM_COUNTS_MAX &&
    counts.every((count) => numberOf(count)! >= 0) &&
    (bins.length === counts.length || bins.length === counts.length + 1);
  if (!fits) throw badRequest("value of a histogram must have numbers as bins and counts", "value");
}

const DEFAULT_MIME_TYPE = "application/octet-stream";

/** Reads a reference to a file. @throws bad_request */
export function readArtifact(item: Fields, sourceType: string): Omit<SourceArtifact, "source"> {
  const name = readName(firstOf(item, ["name", "path"]), "name");
  const toldType = item["type"];
  const address = firstOf(item, ["uri"]);
  if (address !== undefined && typeof address !== "string") throw badRequest("uri must be a text", "uri");
  const metadata = readObject(item["metadata"], "metadata");
  const isShort = address !== undefined && isStorable(address) && Buffer.byteLength(address.trim()) <= TEXT_BYTES_MAX;
  const mimeType = item["mime_type"];
  return {
    name,
    type: artifactTypeOf(typeof toldType === "string" ? toldType : "", name),
    uri: isShort ? address.trim() : defaultUri(sourceType, name),
    step: readStep(item["step"], "step"),
    sizeBytes: readSizeBytes(firstOf(item, ["size_bytes", "file_size"]), "size_bytes"),
    mimeType: mimeType === undefined || mimeType === null ? DEFAULT_MIME_TYPE : readName(mimeType, "mime_type"),
    metadata: writeStored(
      {
        ...metadata,
        ...(typeof toldType === "string" && toldType !== "" ? { source_type: toldType } : {}),
        ...(address === undefined || isShort ? {} : { source_uri: address }),
      },
      "metadata",
    ),
  };
}

function defaultUri(sourceType: string, name: string): string {
  return cutName(`${sourceType}://${name}`);
}
