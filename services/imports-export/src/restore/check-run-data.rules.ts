import {
  faultOfArtifact,
  faultOfCollection,
  faultOfEdge,
  faultOfEntry,
  faultOfVersion,
  type ArchiveLine,
  type LineOf,
} from "@tidemark/archive";
import { readDocument, readExactJson, type ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import {
  ATTRIBUTE_TYPES,
  OBJECT_DOCUMENT_BYTES_MAX,
  OBJECT_KINDS,
  OBJECT_VALUE_BYTES_MAX,
  TABLE_COLUMNS_MAX,
  TABLE_ROW_BYTES_MAX,
  TRACE_LIMITS,
} from "@tidemark/limits";
import { readSeconds } from "@tidemark/values";
import { isStorable, TEXT_BYTES_MAX } from "../content/read-fields.rules.ts";

const utf8 = new TextEncoder();

/**
 * Checks a line of an artifact, of a collection, or of a version with its entries and edges by the rules of the service that stores it; lines of other kinds
 * pass. @throws bad_request
 */
export function checkArtifacts(line: ArchiveLine): void {
  const fault = faultOf(line);
  if (fault !== undefined) throw badRequest(fault);
  if (line.line === "artifact" || line.line === "collection") readDocument(utf8.encode(line.metadata), "metadata");
}

function faultOf(line: ArchiveLine): string | undefined {
  switch (line.line) {
    case "artifact":
      return faultOfArtifact(line);
    case "collection":
      return faultOfCollection(line);
    case "version":
      return faultOfVersion(line);
    case "version.entries":
      return firstFault(line.entries, faultOfEntry, "entries");
    case "version.edges":
      return firstFault(line.edges, faultOfEdge, "edges");
    default:
      return undefined;
  }
}

function firstFault<T>(
  rows: readonly T[],
  faultOfRow: (row: T) => string | undefined,
  name: string,
): string | undefined {
  for (const [i, row] of rows.entries()) {
    const fault = faultOfRow(row);
    if (fault !== undefined) return `${name}[${i}]: ${fault}`;
  }
  return undefined;
}

/** Bytes that the service adds to a sent summary: the columns of a row at most, or facts of an artifact, and the names of these members. */
const ADDED_BYTES_MAX = TABLE_ROW_BYTES_MAX + 1024;

/**
 * Checks a line of an object or of rows of a table by the rules of the service that stores them; lines of other kinds pass. Media may have lost their
 * artifact since they were logged.
 * @throws bad_request
 */
export function checkObjects(line: ArchiveLine): void {
  if (line.line === "object") checkObject(line);
  else if (line.line === "object.rows") line.rows.forEach((row, i) => checkTableRow(row, `rows[${i}]`));
}

function checkObject({ key, kind, step, value, metadata, summary, created_at }: LineOf<"object">): void {
  checkName(key, "key");
  if (!OBJECT_KINDS.some((known) => known === kind)) {
    throw badRequest(`kind must be one of ${OBJECT_KINDS.join(", ")}`, "kind");
  }
  checkStep(step);
  checkInstant(created_at, "created_at");
  checkBytes(value, "value", OBJECT_VALUE_BYTES_MAX);
  readExactJson(utf8.encode(value), "value");
  readObjectText(metadata, "metadata", OBJECT_DOCUMENT_BYTES_MAX);
  readObjectText(summary, "summary", OBJECT_DOCUMENT_BYTES_MAX + ADDED_BYTES_MAX);
}

function checkTableRow(row: string, field: string): void {
  const names = Object.keys(readObjectText(row, field, TABLE_ROW_BYTES_MAX));
  if (names.length > TABLE_COLUMNS_MAX) throw badRequest(`${field} must have at most ${TABLE_COLUMNS_MAX} columns`);
  if (!names.every(isStorable)) throw badRequest(`${field} has a key with NUL or a lone surrogate`);
}

/**
 * Checks a line of an attribute by the rules of the service that stores it; lines of other kinds pass. A value may have any length, because attributes
 * never had a limit other than that of a request.
 * @throws bad_request
 */
export function checkAttributes(line: ArchiveLine): void {
  if (line.line !== "attribute") return;
  checkName(line.path, "path");
  if (!ATTRIBUTE_TYPES.some((known) => known === line.attribute_type)) {
    throw badRequest(`attribute_type must be one of ${ATTRIBUTE_TYPES.join(", ")}`, "attribute_type");
  }
  checkStep(line.step);
  checkInstant(line.logged_at, "logged_at");
  checkInstant(line.created_at, "created_at");
  readExactJson(utf8.encode(line.value), "value");
  readObjectText(line.summary, "summary", Number.POSITIVE_INFINITY);
}

type Span = LineOf<"trace.spans">["spans"][number];

const ZEROS = /^0+$/;

/** Refuses spans that the service would refuse. @throws bad_request */
export function checkSpans({ trace_id, spans }: Pick<LineOf<"trace.spans">, "trace_id" | "spans">): void {
  if (ZEROS.test(trace_id)) throw badRequest("trace_id must not be all 0");
  for (const [i, span] of spans.entries()) {
    const fault = faultOfNumbers(span) ?? faultOfTexts(span);
    if (fault !== undefined) throw badRequest(`spans[${i}]: ${fault}`);
  }
}

function faultOfNumbers(span: Span): string | undefined {
  const { span_id, parent_span_id, started_at, ended_at, duration_ms, rank } = span;
  if (ZEROS.test(span_id) || ZEROS.test(parent_span_id ?? "1")) return "ids must not be all 0";
  if (span_id === parent_span_id) return "parent_span_id must be another span than span_id";
  if (!Number.isInteger(started_at)) return "started_at must be whole microseconds";
  if (ended_at !== undefined && !(Number.isInteger(ended_at) && ended_at >= started_at - TRACE_LIMITS.skewUsMax)) {
    return "ended_at must be whole microseconds, and not more than 1 s before started_at";
  }
  if (duration_ms !== undefined && duration_ms < 0) return "duration_ms must be at least 0";
  return rank !== undefined && !(Number.isSafeInteger(rank) && rank >= 0) ? "rank must be a whole number" : undefined;
}

function faultOfTexts(span: Span): string | undefined {
  if (span.name === "") return "name must not be empty";
  const { textBytesMax, previewBytesMax, attributesBytesMax, metricsBytesMax, linksBytesMax } = TRACE_LIMITS;
  const bounds: Partial<Record<keyof Span, number>> = {
    name: textBytesMax,
    thread_id: textBytesMax,
    rollout_id: textBytesMax,
    error_type: textBytesMax,
    input_preview: previewBytesMax,
    output_preview: previewBytesMax,
    error_preview: previewBytesMax,
    attributes: attributesBytesMax,
    metrics: metricsBytesMax,
    links: linksBytesMax,
  };
  for (const [name, bytesMax] of Object.entries(bounds)) {
    const text = span[name as keyof Span];
    if (typeof text === "string" && Buffer.byteLength(text) > bytesMax)
      return `${name} must have at most ${bytesMax} bytes`;
  }
  const hasPreview = [span.input_preview, span.output_preview, span.error_preview].some((text) => (text ?? "") !== "");
  const isShown = hasPreview || span.redaction_state === "captured";
  return isShown && !span.previews ? "previews need the content policy that allows them" : undefined;
}

/** Checks a key or a path: 1 to 512 bytes that can be stored. @throws bad_request */
function checkName(name: string, field: string): void {
  const bytes = Buffer.byteLength(name);
  if (bytes === 0 || bytes > TEXT_BYTES_MAX || !isStorable(name)) {
    throw badRequest(`${field} must have 1 to ${TEXT_BYTES_MAX} bytes without NUL or lone surrogates`, field);
  }
}

/** Checks a step, which may be missing. @throws bad_request */
function checkStep(step: number | undefined): void {
  if (step !== undefined && !(step >= 0 && Number.isFinite(step))) {
    throw badRequest("step must be a finite number of at least 0", "step");
  }
}

/** Checks that an instant is on an existing day: the form of a line allows others. @throws bad_request */
function checkInstant(instant: string, field: string): void {
  if (Number.isNaN(readSeconds(instant))) throw badRequest(`${field} must be an instant`, field);
}

/** Reads a JSON object of at most this many bytes. @throws bad_request */
function readObjectText(json: string, field: string, bytesMax: number): ExactObject {
  checkBytes(json, field, bytesMax);
  return readDocument(utf8.encode(json), field);
}

/** Checks the length of a document. @throws bad_request */
function checkBytes(json: string, field: string, bytesMax: number): void {
  if (Buffer.byteLength(json) > bytesMax) throw badRequest(`${field} must have at most ${bytesMax} bytes`, field);
}
