import { isInstant, readCursor, writeCursor } from "@tidemark/values";
import { AppError } from "@tidemark/errors";
import { countFitting } from "../reads/page-weight.rules.ts";

/** The place of an object in a list: by step, then by time, then by id, each falling. */
export type ObjectPosition = {
  /** Negative infinity for no step. */
  readonly step: number;
  /** RFC 3339 in UTC, as PostgreSQL writes it. */
  readonly createdAt: string;
  readonly id: number;
};

/** An object that a walk reached. */
export type WalkedObject = ObjectPosition & {
  /** The walk, whose objects are in the order of the list. */
  readonly walk: number;
  readonly bytes: number;
  /** The object is part of the list; otherwise the walk stopped at it early. */
  readonly matches: boolean;
  /** The walk looked at as many objects as it may. */
  readonly stopped: boolean;
};

/** A page of a list, and the place after which the next one begins; undefined: nothing is left. */
export type ExploredPage = { readonly ids: readonly number[]; readonly after: ObjectPosition | undefined };

/**
 * Merges walks into a page of at most `limit` objects and `PAGE_BYTES_MAX` bytes. A walk that may have more to show, because it returned
 * `rowsMax` objects or stopped early, bounds the page: objects of other walks after its last object are for later pages. So a page can be short, or empty,
 * before the end of the list.
 */
export function mergeWalks(walked: readonly WalkedObject[], limit: number, rowsMax: number): ExploredPage {
  const bound = boundOf(walked, rowsMax);
  const reached = walked.filter((object) => object.matches && (bound === undefined || compare(object, bound) <= 0));
  const page = firstOf(reached, limit);
  const fitting = page.slice(0, countFitting(page.map(({ bytes }) => bytes)));
  const ids = fitting.map(({ id }) => id);
  return { ids, after: fitting.length < reached.length ? fitting.at(-1) : bound };
}

/** Returns the first objects of a list. There may be a hundred for each of 600 walks, which take long to sort. */
function firstOf(objects: readonly WalkedObject[], count: number): WalkedObject[] {
  let first: WalkedObject[] = [];
  let last: WalkedObject | undefined;
  for (const object of objects) {
    if (last !== undefined && compare(object, last) > 0) continue;
    first.push(object);
    if (first.length < SORTED_TOGETHER + count) continue;
    first = first.toSorted(compare).slice(0, count);
    last = first.at(-1);
  }
  return first.toSorted(compare).slice(0, count);
}

const SORTED_TOGETHER = 500;

/** Returns the earliest end of a walk that may have more to show. */
function boundOf(walked: readonly WalkedObject[], rowsMax: number): ObjectPosition | undefined {
  const lengths = new Map<number, number>();
  let bound: ObjectPosition | undefined;
  for (const object of walked) {
    const length = (lengths.get(object.walk) ?? 0) + 1;
    lengths.set(object.walk, length);
    if (!object.stopped && length < rowsMax) continue;
    if (bound === undefined || compare(object, bound) < 0) bound = object;
  }
  return bound;
}

function compare(a: ObjectPosition, b: ObjectPosition): number {
  if (a.step !== b.step) return a.step > b.step ? -1 : 1;
  const [at, bt] = [instantKey(a.createdAt), instantKey(b.createdAt)];
  if (at !== bt) return at > bt ? -1 : 1;
  return b.id - a.id;
}

/** Returns a text that sorts like the instant: PostgreSQL omits trailing zeros of the fraction, and a fraction of zero. */
function instantKey(text: string): string {
  return text.slice(0, -1);
}

/** Returns the cursor of the page after an object. It stays valid while objects are added. */
export function writeObjectCursor({ step, createdAt, id }: ObjectPosition): string {
  return writeCursor([Number.isFinite(step) ? step : null, createdAt, id]);
}

/** Reads a cursor. @throws object_explorer_invalid for anything that `writeObjectCursor` does not write */
export function readObjectCursor(cursor: string): ObjectPosition {
  const [step, createdAt, id] = readCursor(cursor, 3) ?? [];
  const isStep = step === null || (Number.isFinite(step) && Number(step) >= 0);
  if (isStep && isInstant(createdAt) && Number.isSafeInteger(id)) {
    return { step: step === null ? Number.NEGATIVE_INFINITY : Number(step), createdAt, id: Number(id) };
  }
  throw new AppError("object_explorer_invalid", "cursor is not a cursor of this list", { field: "cursor" });
}
