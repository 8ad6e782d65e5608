import { query } from "./queries.ts";
import { useAnswer, type Answered } from "./use-answer.ts";

/**
 * Reads a document of the API by its path, again whenever the path or `version` changes. `undefined` reads nothing. Large integers are
 * `bigint` with `exact`, so that seeds keep their digits.
 */
export function useQuery<T>(
  path: string | undefined,
  { version = 0, exact = false }: { readonly version?: number; readonly exact?: boolean } = {},
): Answered<T> {
  return useAnswer(path, (signal, again) => query<T>(path!, { signal, exact, again }), version);
}
