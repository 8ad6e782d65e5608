import { badRequest } from "@tidemark/errors";
import { createBase64Decoder, type Base64Decoder } from "./base64.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** What a character after a backslash stands for (RFC 8259 §7); `u` is followed by four hexadecimal digits. */
const escapes: Readonly<Record<number, number>> = Object.fromEntries(
  Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }).map((pair) =>
    pair.map((character) => character.charCodeAt(0)),
  ),
) as Record<number, number>;

/** Where pieces are decoded, one at a time, before they are copied: the length of a piece is not known in advance. */
let scratch = Buffer.alloc(0);

/** Returns room for the bytes of this many characters, with up to three that still wait. */
function room(characters: number): Buffer {
  const bytes = characters + 6;
  if (scratch.length < bytes) scratch = Buffer.allocUnsafeSlow(bytes);
  return scratch;
}

/** A JSON string of base64 that arrives in pieces. */
export type ContentText = {
  /** Begins a text, after its opening quote. */
  readonly begin: () => void;
  /**
   * Reads from `at` to the closing quote or the end of the chunk, and returns where it stopped.
   * @throws bad_request when the text is not a JSON string
   */
  readonly push: (chunk: Uint8Array, at: number) => number;
  readonly ended: () => boolean;
  /** Returns whether the text that has ended was base64. */
  readonly right: () => boolean;
};

/** Creates the reader of such texts, which passes decoded bytes on. Each piece is the receiver's. */
export function createContentText(bytes: (piece: Uint8Array) => void): ContentText {
  let base64: Base64Decoder = createBase64Decoder();
  /** Checks the encoding of texts that are not ASCII, and therefore not base64. */
  let utf8: TextDecoder | undefined;
  let isEnded = false;
  let isEscaped = false;
  /** The digits of a `\uXXXX` so far; undefined outside of one. */
  let digits: string | undefined;

  const fail = (): never => {
    throw badRequest("the body is not valid JSON");
  };
  const checkUtf8 = (part: Uint8Array | undefined): void => {
    try {
      utf8?.decode(part, { stream: part !== undefined });
    } catch {
      throw badRequest("the body is not valid UTF-8");
    }
  };
  /** Returns the character of an escape that ends with this byte; undefined while it continues. */
  const unescape = (byte: number): number | undefined => {
    if (digits === undefined) {
      if (byte === LETTER_U) {
        digits = "";
        return undefined;
      }
      isEscaped = false;
      return escapes[byte] ?? fail();
    }
    const digit = String.fromCharCode(byte);
    if (!/[0-9A-Fa-f]/.test(digit)) fail();
    digits += digit;
    if (digits.length < 4) return undefined;
    const character = Number.parseInt(digits, 16);
    digits = undefined;
    isEscaped = false;
    return character;
  };

  return {
    begin() {
      base64 = createBase64Decoder();
      utf8 = undefined;
      isEnded = false;
      isEscaped = false;
      digits = undefined;
    },
    push(chunk, from) {
      const target = room(chunk.length - from);
      let written = 0;
      let at = from;
      let plainFrom = from;
      while (at < chunk.length) {
        if (!isEscaped) {
          const progress = base64.groups(chunk, at, chunk.length, target, written);
          at = progress.from;
          written = progress.at;
          if (at === chunk.length) break;
        }
        const byte = chunk[at]!;
        at += 1;
        if (isEscaped) {
          const character = unescape(byte);
          if (character !== undefined) written += base64.one(character, target, written);
        } else if (byte === QUOTE) {
          isEnded = true;
          break;
        } else if (byte === BACKSLASH) {
          isEscaped = true;
        } else {
          if (byte < 0x20) fail();
          if (byte >= 0x80 && utf8 === undefined) {
            utf8 = new TextDecoder("utf-8", { fatal: true });
            plainFrom = at - 1;
          }
          written += base64.one(byte, target, written);
        }
      }
      if (utf8 !== undefined) {
        checkUtf8(chunk.subarray(plainFrom, isEnded ? at - 1 : at));
        if (isEnded) checkUtf8(undefined);
      }
      if (written > 0) bytes(Buffer.from(target.subarray(0, written)));
      return at;
    },
    ended: () => isEnded,
    right: () => base64.right(),
  };
}
