import type { TextRow } from "./comparison.rules.ts";

/** Returns a row for each top-level member that some of the stored documents have. */
export function documentRows(prefix: string, documents: readonly string[]): Iterable<TextRow> {
  return memberRows(prefix, documents.map(openDocument));
}

/** Returns a row for each tag that some of the runs have; its value is true where a run has it. */
export function tagRows(prefix: string, tags: readonly (readonly string[])[]): Iterable<TextRow> {
  return memberRows(prefix, tags.map(openTags));
}

function openTags(tags: readonly string[]): MemberCursor {
  const sorted = [...new Set(tags)].toSorted();
  let at = 0;
  return {
    key: () => sorted[at],
    take() {
      at += 1;
      return "true";
    },
  };
}

/** Merges sorted members, one row at a time, so that the reader may stop before the end. */
function* memberRows(prefix: string, cursors: readonly MemberCursor[]): Iterable<TextRow> {
  for (let key = leastKey(cursors); key !== undefined; key = leastKey(cursors)) {
    const next = key;
    yield { path: prefix + next, values: cursors.map((cursor) => (cursor.key() === next ? cursor.take() : "")) };
  }
}

function leastKey(cursors: readonly MemberCursor[]): string | undefined {
  let least: string | undefined;
  for (const cursor of cursors) {
    const key = cursor.key();
    if (key !== undefined && (least === undefined || key < least)) least = key;
  }
  return least;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Reads sorted members one by one. */
type MemberCursor = {
  /** Returns the key of the next member; undefined at the end. */
  readonly key: () => string | undefined;
  /** Returns the JSON of the next member and moves past it. */
  readonly take: () => string;
};

/**
 * Returns a cursor of the top-level members of a stored document (`writeCanonical`), in the UTF-16 order
 * of their keys. Values are cut out of the text, so that they keep their digits. Only the text is kept
 * in memory, because a document may have a hundred thousand members.
 */
export function openDocument(json: string): MemberCursor {
  let key: string | undefined;
  let valueFrom = 0;

  const readKey = (at: number): void => {
    if (json.charCodeAt(at) !== QUOTE) {
      key = undefined;
      return;
    }
    const end = afterText(json, at);
    const plain = json.slice(at + 1, end - 1);
    key = plain.includes("\\") ? (JSON.parse(json.slice(at, end)) as string) : plain;
    // After the colon.
    valueFrom = end + 1;
  };

  readKey(1);
  return {
    key: () => key,
    take() {
      const end = afterValue(json, valueFrom);
      const value = json.slice(valueFrom, end);
      readKey(end + 1);
      return value;
    },
  };
}

/** Returns the index after the text that starts at this quote. */
function afterText(json: string, quote: number): number {
  let at = quote + 1;
  for (let code = json.charCodeAt(at); code !== QUOTE; code = json.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** Returns the index after the value that starts at `from`. */
function afterValue(json: string, from: number): number {
  let at = from;
  let depth = 0;
  for (;;) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = afterText(json, at);
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
    else if (depth === 0 && (code === COMMA || code === CLOSE_OBJECT)) return at;
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1;
    at += 1;
  }
}
