import { badRequest } from "@tidemark/errors";
import { createContentText } from "./content-text.ts";

/** Where contents are in a body: names of properties, and `*` for each item of a list. The last one is a name. */
export type ContentPath = readonly [...string[], string];

/** Receives what the tokenizer finds, in the order of the body. */
export type ContentsFound = {
  /** JSON that is not a content. The bytes are valid until it returns. */
  readonly rest: (bytes: Uint8Array) => void;
  /** A content begins. Contents are numbered from 0. */
  readonly begin: () => void;
  /** Decoded bytes of the content that began last, which are the receiver's. */
  readonly bytes: (bytes: Uint8Array) => void;
  /** The content has ended. `right`: it was base64. */
  readonly end: (right: boolean) => void;
};

/** Reads a body piece by piece. */
export type ContentsTokenizer = {
  /** @throws bad_request when the text of a content is not a JSON string, or an object has two of them */
  readonly push: (chunk: Uint8Array) => void;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;

/** A container on the way to contents. */
type Frame = {
  readonly isObject: boolean;
  /** Of an object: whether a name, its colon or its value is next, or the value has begun. */
  next: "name" | "colon" | "value" | "comma";
  /** Whether the next value is on the path. */
  onPath: boolean;
  hasContent: boolean;
};

/**
 * Takes the texts at a path out of a JSON body while it arrives and decodes them, so that a body is never held as a whole. They are replaced by a
 * text with the content's number; everything else passes unchanged, and the parser of the rest checks whether it is JSON: the rest is
 * well-formed exactly if the body was. Any text at the path in the rest is thus such a number.
 */
export function createContentsTokenizer(path: ContentPath, found: ContentsFound): ContentsTokenizer {
  const last = path.length - 1;
  // A name may be written with an escape of six characters for each of its own.
  const nameBytesMax = 6 * Math.max(...path.map((name) => name.length));
  const frames: Frame[] = [];
  /** Open containers that do not lead to contents. */
  let aside = 0;
  let contents = 0;
  let inside: "structure" | "text" | "name" | "content" = "structure";
  let escaped = false;
  let name = "";
  const content = createContentText(found.bytes);

  const open = (isObject: boolean): void => {
    const parent = frames.at(-1);
    const level = frames.length;
    const leads = aside === 0 && (parent === undefined ? level === 0 : leadsOn(parent)) && level <= last;
    if (parent !== undefined && aside === 0) begun(parent);
    if (!leads) {
      aside += 1;
      return;
    }
    const onPath = !isObject && path[level] === "*";
    frames.push({ isObject, next: isObject ? "name" : "value", onPath, hasContent: false });
  };
  const leadsOn = ({ onPath, next }: Frame): boolean => onPath && next === "value";
  const begun = (frame: Frame): void => {
    if (frame.isObject && frame.next === "value") frame.next = "comma";
  };
  const close = (): void => {
    if (aside > 0) aside -= 1;
    else frames.pop();
  };

  /** Returns the kind of text that a quote begins. */
  const beginText = (): typeof inside => {
    const frame = frames.at(-1);
    if (frame === undefined || aside > 0 || !frame.isObject) return "text";
    if (frame.next === "name") {
      name = "";
      return "name";
    }
    if (frame.next !== "value") return "text";
    frame.next = "comma";
    return frame.onPath && frames.length - 1 === last ? "content" : "text";
  };
  const endName = (): void => {
    const frame = frames.at(-1)!;
    const wanted = path[frames.length - 1];
    frame.onPath = wanted !== "*" && nameOf(name) === wanted;
    frame.next = "colon";
    if (!frame.onPath || frames.length - 1 < last) return;
    if (frame.hasContent) throw badRequest(`${wanted} is given twice in one object`);
    frame.hasContent = true;
  };
  const structure = (byte: number): void => {
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) open(byte === OPEN_OBJECT);
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) close();
    else if (byte === COLON || byte === COMMA) {
      const frame = frames.at(-1);
      if (frame === undefined || aside > 0 || !frame.isObject) return;
      if (byte === COMMA) frame.next = "name";
      else if (frame.next === "colon") frame.next = "value";
    }
  };

  return {
    push(chunk) {
      /** Where the rest begins that has not been passed on. */
      let from = 0;
      let at = 0;
      while (at < chunk.length) {
        if (inside === "content") {
          at = content.push(chunk, at);
          if (!content.ended()) return;
          found.end(content.right());
          found.rest(Buffer.from(`"${contents}"`));
          contents += 1;
          inside = "structure";
          from = at;
          continue;
        }
        const byte = chunk[at]!;
        at += 1;
        if (inside === "structure") {
          if (byte !== QUOTE) {
            structure(byte);
            continue;
          }
          inside = beginText();
          if (inside !== "content") continue;
          if (at - 1 > from) found.rest(chunk.subarray(from, at - 1));
          content.begin();
          found.begin();
          continue;
        }
        if (!escaped && byte === QUOTE) {
          if (inside === "name") endName();
          inside = "structure";
          continue;
        }
        escaped = !escaped && byte === BACKSLASH;
        if (inside === "name" && name.length <= nameBytesMax) name += String.fromCharCode(byte);
      }
      if (inside !== "content" && at > from) found.rest(chunk.subarray(from, at));
    },
  };
}

/** Returns the name that a JSON string without its quotes spells; undefined for a name that is not ASCII. */
function nameOf(text: string): string | undefined {
  if (!text.includes("\\")) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}
