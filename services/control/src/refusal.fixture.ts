import type { AppError } from "@tidemark/errors";

/** Returns the error that a rule throws; another error if it throws nothing. */
export function refusalOf(rule: () => unknown): AppError | Error {
  try {
    rule();
  } catch (error) {
    return error as AppError;
  }
  return new Error("nothing was refused");
}
