import { AppError } from "@tidemark/errors";
import { sqlState } from "@tidemark/pg";

const missing = new Set(["3F000", "42P01", "42883"]);

/** Tells whether a statement failed because a schema, or something in it, is not there. */
export function isMissingSchema(error: unknown): boolean {
  return missing.has(sqlState(error));
}

/**
 * What to throw when a statement on another service's schema failed: while that service has not set
 * it up, the caller should try again.
 */
export function orMissingSchema(error: unknown, what: string): unknown {
  if (!isMissingSchema(error)) return error;
  return new AppError("service_unavailable", `${what} cannot be looked up yet; try again`, {
    retryAfterSeconds: 1,
    cause: error,
  });
}
