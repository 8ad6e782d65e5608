import { badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import { DISPLAY_STATUSES } from "@tidemark/run-state";
import { NAME_BYTES_MAX } from "../create/run-name.rules.ts";
import type { RunOrder, RunPosition, RunSort, RunStart } from "./run-list.rules.ts";

type Check = (value: unknown) => boolean;

const isName: Check = (value) =>
  typeof value === "string" && !value.includes("\0") && Buffer.byteLength(value) <= NAME_BYTES_MAX;
const isStatus: Check = (value) => DISPLAY_STATUSES.some((status) => status === value);

/** The values in the cursors of a sort, and whether it has a rest of runs without them. */
const SHAPES: Readonly<Record<RunSort, { readonly values: readonly Check[]; readonly rest: boolean }>> = {
  created: { values: [], rest: false },
  name: { values: [isName], rest: false },
  status: { values: [isStatus, isName], rest: false },
  duration: { values: [Number.isSafeInteger], rest: true },
  "metric-latest": { values: [Number.isFinite], rest: true },
  "metric-best": { values: [Number.isFinite], rest: true },
};

const INSTANT = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;
const OFFSET = /^offset:(\d{1,15})$/;

/** Returns the cursor of the page after a run. It stays valid while runs are added. */
export function writeRunCursor({ sort, metricKey }: RunOrder, { part, values, createdAt, id }: RunPosition): string {
  const key = sort.startsWith("metric-") ? metricKey : "";
  return Buffer.from(JSON.stringify([sort, key, part, values, createdAt, id])).toString("base64url");
}

/**
 * Reads a cursor of this list; `offset:<n>` counts rows from its start.
 * @throws bad_request for anything else, including a cursor of another order
 */
export function readRunCursor(cursor: string, order: RunOrder): RunStart {
  const offset = OFFSET.exec(cursor)?.[1];
  if (offset !== undefined) return { offset: Number(offset) };
  const after = readPosition(cursor, order);
  if (after === undefined) throw badRequest("cursor is not a cursor of this list", "cursor");
  return { after };
}

function readPosition(cursor: string, order: RunOrder): RunPosition | undefined {
  const fields = parse(cursor);
  if (!Array.isArray(fields) || fields.length !== 6) return undefined;
  const [, , part, values, createdAt, id] = fields as unknown[];
  const shape = SHAPES[order.sort];
  if (part !== "valued" && !(part === "rest" && shape.rest)) return undefined;
  const checks = part === "rest" ? [] : shape.values;
  if (!Array.isArray(values) || values.length !== checks.length) return undefined;
  if (!values.every((value, i) => checks[i]?.(value))) return undefined;
  if (typeof createdAt !== "string" || !isInstant(createdAt)) return undefined;
  if (typeof id !== "string" || !isUuid(id)) return undefined;
  const position = { part, values: values as (string | number)[], createdAt, id } as const;
  // Refuses every other change: only what this list writes is read.
  return writeRunCursor(order, position) === cursor ? position : undefined;
}

function isInstant(text: string): boolean {
  const ms = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  // Only PostgreSQL would refuse 30 February.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 19));
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
