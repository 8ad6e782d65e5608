/** Which bytes of a file an answer has: all of them, or those from `start` up to but not including `end`; or none, because no such bytes exist. */
export type ChosenRange = "whole" | "unsatisfiable" | { readonly start: number; readonly end: number };

const unitShape = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(.*)$/s;
const partShape = /^(?:(\d+)-(\d*)|-(\d+))$/;

/**
 * Reads a `Range` header for a file of `size` bytes (RFC 9110 §14). Units other than bytes are ignored, several ranges are answered with the whole
 * file, and a malformed header cannot be satisfied.
 */
export function chooseRange(header: string | undefined, size: number): ChosenRange {
  const text = header?.trim() ?? "";
  if (text === "") return "whole";
  const [, unit, set] = unitShape.exec(text) ?? [];
  if (unit === undefined || set === undefined) return "unsatisfiable";
  if (unit.toLowerCase() !== "bytes") return "whole";
  // Empty items of a list are ignored (RFC 9110 §5.6.1).
  const parts = set.split(",").flatMap((part) => {
    const trimmed = part.replaceAll(/^[\t ]+|[\t ]+$/g, "");
    return trimmed === "" ? [] : [readPart(trimmed, size)];
  });
  if (parts.length === 0 || parts.includes("malformed")) return "unsatisfiable";
  const satisfiable = parts.filter((part) => typeof part === "object");
  if (satisfiable.length === 0) return "unsatisfiable";
  return parts.length > 1 ? "whole" : satisfiable[0]!;
}

function readPart(
  text: string,
  size: number,
): "malformed" | "unsatisfiable" | { readonly start: number; readonly end: number } {
  const match = partShape.exec(text);
  if (match === null) return "malformed";
  const [, first, last, suffix] = match;
  if (first === undefined) {
    const count = Math.min(Number(suffix), size);
    return count === 0 ? "unsatisfiable" : { start: size - count, end: size };
  }
  const start = Number(first);
  const end = last === "" || last === undefined ? size : Number(last) + 1;
  if (end <= start && last !== "") return "malformed";
  return start >= size ? "unsatisfiable" : { start, end: Math.min(end, size) };
}
