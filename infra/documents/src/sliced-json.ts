import { setOwn } from "@tidemark/values";

/** Bytes that are parsed at a time. */
const PIECE_BYTES = 16 * 1024;

/** How a text is read in pieces. */
export type SlicedReading = {
  /** Parses a piece of the bytes with JSON before and after it. @throws SyntaxError */
  readonly parse: (piece: Buffer, before: string, after: string) => unknown;
  /** Called with each parsed piece, an object or a list `depth` levels down, before it becomes part of the whole. */
  readonly check: (piece: object, depth: number) => void;
  /** Called for each object and list, `depth` levels down, before any of it is parsed. */
  readonly opened: (depth: number) => void;
  /** Called with the number of keys of one large object so far. */
  readonly keyed: (keys: number) => void;
  /** Bytes that a piece has at least, if the values in it allow it. 16 KiB unless a test sets it. */
  readonly pieceBytes?: number;
};

/** An object or list that has been opened and not closed. */
type Level = {
  readonly at: number;
  readonly isList: boolean;
  /** The last comma between its own items, or its bracket. */
  comma: number;
  /** The value it becomes, once its items are taken piece by piece. */
  target: unknown[] | Record<string, unknown> | undefined;
  /** Keys that were taken, repeated ones included. */
  keys: number;
  /** Where its first item begins that was not taken. */
  from: number;
  /** The last thing taken. */
  last: "nothing" | "item" | "comma";
};

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...Buffer.from('"\\,[]{}')] as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

/**
 * Parses a JSON object or list piece by piece, and pauses after each piece, where the caller may let others work. The value is that of `JSON.parse`.
 * JSON.parse reads the pieces, so errors inside them are found there.
 * @throws SyntaxError, and what `check` throws
 */
export function* parseInSlices(bytes: Buffer, reading: SlicedReading): Generator<void, unknown> {
  const { parse, check, opened, keyed, pieceBytes = PIECE_BYTES } = reading;
  const levels: Level[] = [];
  /** The number of levels that have a target. */
  let taken = 0;
  let root: Level["target"];

  const fail = (): never => {
    throw new SyntaxError("no JSON");
  };
  const isBlank = (from: number, to: number): boolean => {
    for (let at = from; at < to; at += 1) if (!WHITE.has(bytes[at]!)) return false;
    return true;
  };

  /** Takes the items of a level up to a place, and the sign there. */
  const take = (level: Level, to: number, then: "item" | "comma"): void => {
    const { target, isList, last, from } = level;
    level.from = to + 1;
    level.last = then;
    if (isBlank(from, to)) {
      // Only the brackets, or a child that was taken before.
      if (last === "comma" || (last === "nothing" && then === "comma")) fail();
      return;
    }
    if (last === "item") fail();
    const piece = parse(bytes.subarray(from, to), isList ? "[" : "{", isList ? "]" : "}") as object;
    check(piece, taken);
    if (isList) for (const item of piece as unknown[]) (target as unknown[]).push(item);
    else takeMembers(level, piece as Record<string, unknown>);
  };

  const takeMembers = (level: Level, piece: Record<string, unknown>): void => {
    for (const key in piece) {
      level.keys += 1;
      setOwn(level.target as Record<string, unknown>, key, piece[key]);
    }
    keyed(level.keys);
  };

  /** Begins to take the items of the outermost level that is not taken yet. */
  const enter = (): void => {
    const level = levels[taken]!;
    level.target = level.isList ? [] : {};
    const parent = levels[taken - 1];
    if (parent === undefined) {
      if (!isBlank(0, level.at)) fail();
      root = level.target;
    } else {
      if (parent.comma >= parent.from) take(parent, parent.comma, "comma");
      else if (parent.last === "item") fail();
      const [before, after] = parent.isList ? ["[", " 0]"] : ["{", " 0}"];
      const alone = parse(bytes.subarray(parent.from, level.at), before, after) as object;
      // Its items are not known yet: an object named `constructor` counts as if it had a prototype.
      check(
        "constructor" in alone && Object.hasOwn(alone, "constructor") ? { constructor: { prototype: 0 } } : alone,
        taken,
      );
      const names = Object.keys(alone);
      if (names.length !== 1) fail();
      if (parent.isList) (parent.target as unknown[]).push(level.target);
      else setOwn(parent.target as Record<string, unknown>, names[0]!, level.target);
    }
    taken += 1;
  };

  for (let at = nextSign(bytes, 0); at < bytes.length; at = nextSign(bytes, at + 1)) {
    const byte = bytes[at];
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (root !== undefined && taken === 0) fail();
      levels.push({
        at,
        isList: byte === OPEN_LIST,
        comma: at,
        target: undefined,
        keys: 0,
        from: at + 1,
        last: "nothing",
      });
      opened(levels.length);
      if (taken === 0) enter();
    } else if (byte === COMMA) {
      const level = levels.at(-1) ?? fail();
      level.comma = at;
      const innermost = levels[taken - 1]!;
      if (at - innermost.from < pieceBytes && innermost.last !== "item") continue;
      if (level === innermost) take(level, at, "comma");
      while (taken < levels.length && at - levels[taken - 1]!.from >= pieceBytes) enter();
      if (levels.length === taken && levels[taken - 1]!.from <= at) take(levels[taken - 1]!, at, "comma");
      yield;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      const level = levels.pop() ?? fail();
      if (level.isList !== (byte === CLOSE_LIST)) fail();
      if (level.target === undefined) continue;
      take(level, at, "item");
      taken -= 1;
      const parent = levels[taken - 1];
      if (parent !== undefined) {
        parent.from = at + 1;
        parent.last = "item";
      } else if (!isBlank(at + 1, bytes.length)) fail();
      yield;
    }
  }
  if (levels.length > 0 || root === undefined) fail();
  return root;
}

/** The bytes that occur between values, outside of texts. */
const SIGNS = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT]) SIGNS[byte] = 1;

/** Returns the place of the next bracket or comma outside of texts, or the end. Separate, because the compiler optimizes a plain function better. */
function nextSign(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from;
  for (; at < length; at += 1) {
    const byte = bytes[at]!;
    if (SIGNS[byte] === 0) continue;
    if (byte !== QUOTE) return at;
    for (at += 1; at < length && bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1;
  }
  return at;
}

/** White space of JSON (RFC 8259, JSON Grammar). */
const WHITE: ReadonlySet<number> = new Set(Buffer.from(" \t\n\r"));
