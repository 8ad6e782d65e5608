const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Something sorted that is read member by member. */
export type Cursor = {
  /** The key of the next member; undefined at the end. */
  readonly key: () => string | undefined;
  /** The JSON of the next member, which is then behind. */
  readonly take: () => string;
};

/**
 * Reads the top members of a stored document (`writeCanonical`) in the order of their keys, which is
 * that of UTF-16. Values are cut out of the text, so that they keep their digits, and nothing is kept
 * of a document but its text: it may have a hundred thousand members.
 */
export function openDocument(json: string): Cursor {
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
    // The colon.
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

/** The place after the text that begins at this quote. */
function afterText(json: string, quote: number): number {
  let at = quote + 1;
  for (let code = json.charCodeAt(at); code !== QUOTE; code = json.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** The place after the value that begins here. */
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
