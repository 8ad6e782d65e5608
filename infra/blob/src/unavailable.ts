import { AppError } from "@tidemark/errors";

/** The one error for a store that cannot do its work now; what really happened is kept as the cause. */
export function unavailable(cause: unknown): AppError {
  return new AppError("service_unavailable", "the object store is not available", { retryAfterSeconds: 1, cause });
}
