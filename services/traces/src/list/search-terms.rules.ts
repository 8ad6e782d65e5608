import { badRequest } from "@tidemark/errors";
import { TRACE_LIMITS } from "@tidemark/limits";

/** A word that a trace has to have: part of its root's name, thread or rollout, or the beginning of its id. */
export type SearchTerm = {
  /** The `LIKE` pattern for the searched text. */
  readonly pattern: string;
  /** The lowest and the highest id that begin with the word; null where none does. */
  readonly idFrom: string | null;
  readonly idTo: string | null;
};

const ID_DIGITS = 32;

/**
 * Splits a search text at white space. Only the first eight words count. ASCII letters count as equal in both cases, others do not.
 * @throws bad_request for more than 512 bytes
 */
export function readTerms(q: string): SearchTerm[] {
  const { searchBytesMax, searchTermsMax } = TRACE_LIMITS;
  if (Buffer.byteLength(q.trim()) > searchBytesMax)
    throw badRequest(`q must have at most ${searchBytesMax} bytes`, "q");
  const words = q.split(/\s+/).filter((word) => word !== "");
  return words.slice(0, searchTermsMax).map(termOf);
}

function termOf(word: string): SearchTerm {
  const lower = word.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const isIdStart = lower.length <= ID_DIGITS && /^[0-9a-f]+$/.test(lower);
  return {
    pattern: `%${lower.replaceAll(/[\\%_]/g, "\\$&")}%`,
    idFrom: isIdStart ? lower.padEnd(ID_DIGITS, "0") : null,
    idTo: isIdStart ? lower.padEnd(ID_DIGITS, "f") : null,
  };
}
