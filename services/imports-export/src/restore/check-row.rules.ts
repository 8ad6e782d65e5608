/*
 * Checks for what the services would refuse, so that nothing is written of an archive that cannot be restored completely.
 */

import type { ArchiveLine, LineOf } from "@tidemark/archive";
import { badRequest, isAppError } from "@tidemark/errors";
import {
  FORBIDDEN_KEYS,
  README_BYTES_MAX,
  VIEW_PAYLOAD_BYTES_MAX,
  WORLD_SIZE_MAX,
  isReservedProjectName,
  RESERVED_PROJECT_NAME,
} from "@tidemark/limits";
import { faultOfBlocks } from "@tidemark/report-blocks";
import { LIFECYCLE_ENTRIES_MAX } from "@tidemark/run-state";
import { checkArtifacts, checkAttributes, checkObjects, checkSpans } from "./check-run-data.rules.ts";
import type { PlacedLine } from "./new-ids.rules.ts";
import { lineFault } from "./piece-facts.rules.ts";

const NAME_BYTES_MAX = 512;
/** The limit for runs, because names of forks grow. */
const RUN_NAME_BYTES_MAX = 1024;
/** The maximum of a signed integer of four bytes. */
const INDEX_MAX = 2 ** 31 - 1;

/** Refuses a row that its service would refuse. @throws bad_request */
export function checkRow(line: ArchiveLine): void {
  checkTexts(line, "");
  switch (line.line) {
    case "project":
      requireName(line.name, "name");
      if (isReservedProjectName(line.name)) throw badRequest(RESERVED_PROJECT_NAME);
      return requireNameIfAny(line.description, "description");
    case "run":
      return checkRun(line);
    case "points":
      requireName(line.key, "key");
      requireTimes(line.columns);
      return requireAll(line.columns.step, (step) => step >= 0, "a step is negative");
    case "rank_points":
      return checkRankPoints(line);
    case "lines":
      requireAll(line.columns.line_number, isCount, "a line number is not a whole number");
      return requireTimes(line.columns);
    case "attribute":
      return checkAttributes(line);
    case "object":
    case "object.rows":
      return checkObjects(line);
    case "artifact":
    case "collection":
    case "version":
    case "version.entries":
    case "version.edges":
      return checkArtifacts(line);
    case "trace.spans":
      return checkSpans(line);
    case "report":
      requireName(line.title, "title");
      requireNameIfAny(line.description, "description");
      return checkBlocks(line.blocks);
    case "view":
      requireName(line.name, "name");
      requireNameIfAny(line.project, "project");
      if (Buffer.byteLength(line.payload) > VIEW_PAYLOAD_BYTES_MAX) throw badRequest("payload is too large");
      requireObject(line.payload, "payload");
      return checkKeys(JSON.parse(line.payload));
    default:
  }
}

function checkRun(run: LineOf<"run">): void {
  requireName(run.name, "name", RUN_NAME_BYTES_MAX);
  requireObject(run.config, "config");
  requireObject(run.metadata, "metadata");
  requireIndex(run.resume_count, "resume_count");
  if (run.status !== "running" && run.finished_at === undefined) {
    throw badRequest("a run that has ended needs finished_at");
  }
  if (run.lifecycle.length > LIFECYCLE_ENTRIES_MAX)
    throw badRequest(`lifecycle must have at most ${LIFECYCLE_ENTRIES_MAX} entries`);
  if (Buffer.byteLength(run.readme ?? "") > README_BYTES_MAX) {
    throw badRequest(`readme must have at most ${README_BYTES_MAX} bytes`);
  }
}

function checkRankPoints({ key, columns }: LineOf<"rank_points">): void {
  requireName(key, "key");
  requireTimes(columns);
  requireAll(columns.step, (step) => step >= 0, "a step is negative");
  requireAll(columns.weight, (weight) => weight > 0, "a weight is not above 0");
  for (let i = 0; i < columns.rank.length; i++) {
    const [rank, size, local] = [columns.rank[i]!, columns.world_size[i]!, columns.local_rank[i]!];
    const isRight = isCount(rank) && isCount(size) && isCount(local) && size >= 1 && size <= WORLD_SIZE_MAX;
    if (!isRight || rank >= size || local >= size) throw badRequest("a rank is not below its world_size");
  }
}

function checkBlocks(json: string): void {
  const fault = faultOfBlocks(JSON.parse(json), (value) => Buffer.byteLength(JSON.stringify(value)));
  if (fault !== undefined) throw badRequest(`blocks: ${fault}`);
}

/** @throws bad_request for a key that reaches a prototype */
function checkKeys(part: unknown): void {
  if (typeof part !== "object" || part === null) return;
  for (const [key, member] of Object.entries(part)) {
    if (FORBIDDEN_KEYS.some((known) => known === key)) throw badRequest(`payload: the key ${key} is not allowed`);
    checkKeys(member);
  }
}

/** Requires that PostgreSQL can store all texts, and that instants are on existing days. */
function checkTexts(value: unknown, name: string): void {
  if (typeof value === "string") {
    if (value.includes("\0") || !value.isWellFormed()) throw badRequest(`${name} has NUL or a lone surrogate`);
    if (isInstant(name) && !isDay(value)) throw badRequest(`${name} is not an existing day`);
    return;
  }
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
  for (const [member, part] of Object.entries(value)) checkTexts(part, Array.isArray(value) ? name : member);
}

function isInstant(name: string): boolean {
  return name === "at" || name.endsWith("_at") || name === "purge_after";
}

/** `Date` accepts the 31st of any month, and has a year 0, which PostgreSQL does not have. */
function isDay(instant: string): boolean {
  const ms = Date.parse(instant);
  if (instant.startsWith("0000")) return false;
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, DAY_CHARACTERS) === instant.slice(0, DAY_CHARACTERS);
}

const DAY_CHARACTERS = "2026-11-23".length;

/** The range of microseconds that PostgreSQL stores. */
const MICROS_MAX = 2 ** 62;
const isMicros = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < MICROS_MAX;

/** @throws bad_request for times that are not whole microseconds; NaN stands for no time from a client */
function requireTimes(columns: {
  readonly created_at: Float64Array;
  readonly timestamp: Float64Array | undefined;
}): void {
  requireAll(columns.created_at, isMicros, "created_at must be whole microseconds");
  columns.timestamp?.forEach((value) => {
    if (!Number.isNaN(value) && !isMicros(value)) throw badRequest("timestamp must be whole microseconds");
  });
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

function requireAll(column: Float64Array, is: (value: number) => boolean, fault: string): void {
  if (!column.every(is)) throw badRequest(fault);
}

function requireName(text: string, name: string, bytesMax = NAME_BYTES_MAX): void {
  const bytes = Buffer.byteLength(text);
  if (text.trim() === "" || bytes > bytesMax) throw badRequest(`${name} must have 1 to ${bytesMax} bytes`);
}

function requireNameIfAny(text: string | undefined, name: string): void {
  if (text !== undefined) requireName(text, name);
}

function requireIndex(value: number, name: string): void {
  if (value > INDEX_MAX) throw badRequest(`${name} is too large`);
}

function requireObject(json: string, name: string): void {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw badRequest(`${name} must be an object`);
}

/** Refuses a line that its service would refuse. @throws LineFault */
export function checkLine({ number, line }: PlacedLine): void {
  try {
    checkRow(line);
  } catch (error) {
    if (isAppError(error)) throw lineFault(number, error.message);
    throw error;
  }
}
