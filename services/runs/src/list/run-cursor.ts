import { isInstant, readCursor, writeCursor } from "@tidemark/values";
import { badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import { DISPLAY_STATUSES } from "@tidemark/run-state";
import { NAME_BYTES_MAX } from "../create/run-name.rules.ts";
import {
  isDescending,
  metricOrderOf,
  orderName,
  type RunOrder,
  type RunPosition,
  type RunStart,
} from "./run-list.rules.ts";

type Check = (value: unknown) => boolean;

const isName: Check = (value) =>
  typeof value === "string" && !value.includes("\0") && Buffer.byteLength(value) <= NAME_BYTES_MAX;
const isStatus: Check = (value) => DISPLAY_STATUSES.some((status) => status === value);

const isNumber: Check = (value) =>
  Number.isFinite(value) || value === "NaN" || value === "Infinity" || value === "-Infinity";
const isText: Check = (value) =>
  typeof value === "string" && value.length <= 1024 && !value.includes("\0") && value.isWellFormed();

/** The values in the cursors of an order, and whether it has a rest of runs without them. */
type Shape = { readonly values: readonly Check[]; readonly rest: boolean };

function shapeOf(order: RunOrder): Shape {
  if (metricOrderOf(order) !== undefined) return { values: [Number.isFinite], rest: true };
  switch (order.sort) {
    case "created":
      return { values: isDescending(order) ? [] : [isInstant], rest: false };
    case "name":
      return { values: [isName], rest: false };
    case "status":
      return { values: [isStatus, isName], rest: false };
    case "duration":
      return { values: [Number.isSafeInteger], rest: true };
    default:
      return { values: [isNumber, isText], rest: true };
  }
}

const OFFSET = /^offset:(\d{1,15})$/;

/** Returns the cursor of the page after a run. It stays valid while runs are added. */
export function writeRunCursor(order: RunOrder, { part, values, createdAt, id }: RunPosition): string {
  const key = order.sort === "metric-best" || order.sort === "metric-latest" ? order.metricKey : "";
  return writeCursor([orderName(order), key, part, values, createdAt, id]);
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
  const [, , part, values, createdAt, id] = readCursor(cursor, 6) ?? [];
  const shape = shapeOf(order);
  if (part !== "valued" && !(part === "rest" && shape.rest)) return undefined;
  const checks = part === "rest" ? [] : shape.values;
  if (!Array.isArray(values) || values.length !== checks.length) return undefined;
  if (!values.every((value, i) => checks[i]?.(value))) return undefined;
  if (!isInstant(createdAt) || typeof id !== "string" || !isUuid(id)) return undefined;
  const position = { part, values: values as (string | number)[], createdAt, id } as const;
  // Refuses the cursors of another sort or metric.
  return writeRunCursor(order, position) === cursor ? position : undefined;
}
