/** The pattern of standard base64 with padding (RFC 4648 §4), whose last bits are zero where they mean nothing. */
export const BASE64_PATTERN = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";

const PAD = 0x3d;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const sextets = new Int8Array(256).fill(-1);
for (let i = 0; i < alphabet.length; i += 1) sextets[alphabet.charCodeAt(i)] = i;

/** Decodes standard base64 (RFC 4648 §4) that arrives in pieces. A character outside its alphabet makes it wrong; none is skipped. */
export type Base64Decoder = {
  /**
   * Decodes whole groups of four characters from `from`, as far as there are any and at most to `to`, into `target` from `at` on, which needs three bytes for
   * each. Stops at anything else.
   */
  readonly groups: (source: Uint8Array, from: number, to: number, target: Uint8Array, at: number) => Progress;
  /** Takes one character. Returns how many bytes it wrote into `target` from `at` on: 0 to 3. */
  readonly one: (character: number, target: Uint8Array, at: number) => number;
  /** Returns whether the text, which has ended, was right as a whole. */
  readonly right: () => boolean;
};

/** How far a step got: the next index of the source and of the target. */
type Progress = { from: number; at: number };

/** Begins a text. */
export function createBase64Decoder(): Base64Decoder {
  let bits = 0;
  let count = 0;
  let padding = 0;
  let wrong = false;
  const progress: Progress = { from: 0, at: 0 };
  return {
    groups(source, from, to, target, at) {
      let i = from;
      let written = at;
      if (count === 0 && padding === 0 && !wrong) {
        for (; i + 4 <= to; i += 4) {
          const group =
            (sextets[source[i]!]! << 18) |
            (sextets[source[i + 1]!]! << 12) |
            (sextets[source[i + 2]!]! << 6) |
            sextets[source[i + 3]!]!;
          if (group < 0) break;
          target[written] = group >> 16;
          target[written + 1] = (group >> 8) & 0xff;
          target[written + 2] = group & 0xff;
          written += 3;
        }
      }
      progress.from = i;
      progress.at = written;
      return progress;
    },

    one(character, target, at) {
      if (wrong) return 0;
      if (character === PAD) {
        padding += 1;
        wrong = count < 2 || count + padding > 4;
        if (wrong || count + padding < 4) return 0;
        // Two characters carry 8 bits and 4 more, three carry 16 and 2 more.
        const spare = count === 2 ? 4 : 2;
        wrong = (bits & ((1 << spare) - 1)) !== 0;
        if (wrong) return 0;
        target[at] = count === 2 ? bits >> 4 : bits >> 10;
        if (count === 3) target[at + 1] = (bits >> 2) & 0xff;
        return count - 1;
      }
      const sextet = character > 255 ? -1 : sextets[character]!;
      if (sextet < 0 || padding > 0) {
        wrong = true;
        return 0;
      }
      bits = (bits << 6) | sextet;
      count += 1;
      if (count < 4) return 0;
      target[at] = (bits >> 16) & 0xff;
      target[at + 1] = (bits >> 8) & 0xff;
      target[at + 2] = bits & 0xff;
      bits = 0;
      count = 0;
      return 3;
    },

    right: () => !wrong && (padding === 0 ? count === 0 : count + padding === 4),
  };
}
