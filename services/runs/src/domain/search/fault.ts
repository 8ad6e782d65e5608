import { AppError } from "@tidemark/errors";

/**
 * A query that is complete but breaks a rule. `position` is the 1-based column of the term at fault,
 * in code points of the trimmed query; 1 when the query as a whole is at fault.
 */
export function searchFault(what: string, position: number): AppError {
  const text = `Invalid run search: ${what} (column ${position}).`;
  return new AppError("run_search_invalid", text, { field: "q", position });
}
