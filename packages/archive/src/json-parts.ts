/** The one error of this package, recognized by its `name`: a line is not one of an archive. Its text names members of the line, and no values. */
export type ArchiveError = Error & { readonly name: "ArchiveError" };

/** Makes an {@link ArchiveError}. */
export function archiveError(text: string, cause?: unknown): ArchiveError {
  const error = cause === undefined ? new Error(text) : new Error(text, { cause });
  return Object.assign(error, { name: "ArchiveError" as const });
}

/** Recognizes an {@link ArchiveError} by its name, which also works across copies of this package. */
export function isArchiveError(error: unknown): error is ArchiveError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "ArchiveError";
}

/*
 * Splits JSON texts into the texts of their parts, so that a part keeps its digits, its escapes and the order of its members. Nothing here
 * looks into a part: the code that reads a part finds out whether it is JSON.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Returns the texts of an object's members by name. @throws ArchiveError if it is not an object, or has a name twice */
export function membersOf(json: string): Map<string, string> {
  const members = new Map<string, string>();
  eachPart(json, OPEN_OBJECT, CLOSE_OBJECT, (from) => {
    if (json.charCodeAt(from) !== QUOTE) throw archiveError("an object has a member without a name");
    const nameEnd = endOfText(json, from);
    const name = parse(json.slice(from, nameEnd)) as string;
    const colon = skipSpace(json, nameEnd);
    if (json.charCodeAt(colon) !== COLON) throw archiveError("an object has a member without a value");
    const start = skipSpace(json, colon + 1);
    const end = endOfValue(json, start);
    if (members.has(name)) throw archiveError("an object has two members of one name");
    members.set(name, json.slice(start, end));
    return end;
  });
  return members;
}

/** Returns the texts of a list's items. @throws ArchiveError if it is not a list */
export function itemsOf(json: string): string[] {
  const items: string[] = [];
  eachPart(json, OPEN_LIST, CLOSE_LIST, (from) => {
    const end = endOfValue(json, from);
    items.push(json.slice(from, end));
    return end;
  });
  return items;
}

/** Returns the value of a JSON text. @throws ArchiveError */
export function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw archiveError("not JSON", error);
  }
}

/** Visits the parts between the brackets; `visit` returns where the part that begins at its argument ends. */
function eachPart(json: string, open: number, close: number, visit: (from: number) => number): void {
  let at = skipSpace(json, 0);
  if (json.charCodeAt(at) !== open) throw archiveError(open === OPEN_OBJECT ? "not an object" : "not a list");
  at = skipSpace(json, at + 1);
  if (json.charCodeAt(at) === close) at += 1;
  else {
    for (;;) {
      at = skipSpace(json, visit(at));
      const code = json.charCodeAt(at);
      at += 1;
      if (code === close) break;
      if (code !== COMMA) throw archiveError("not JSON");
      at = skipSpace(json, at);
    }
  }
  if (skipSpace(json, at) !== json.length) throw archiveError("something follows the end of the value");
}

function skipSpace(json: string, from: number): number {
  let at = from;
  for (;;) {
    const code = json.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

/** Returns where the text that begins at a quotation mark ends. */
function endOfText(json: string, from: number): number {
  let at = from;
  for (;;) {
    at = json.indexOf('"', at + 1);
    if (at < 0) throw archiveError("not JSON");
    let before = at;
    while (json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 0) return at + 1;
  }
}

/** Returns where the value that begins here ends. */
function endOfValue(json: string, from: number): number {
  let at = from;
  let depth = 0;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(json, at);
      if (depth === 0) return at;
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (code === COMMA && depth === 0) return at;
    at += 1;
  }
  return at;
}
