import type { AppError } from "@tidemark/errors";

/** Returns what a rule throws; an error that says so when it throws nothing. */
export function refusalOf(rule: () => unknown): AppError | Error {
  try {
    rule();
  } catch (error) {
    return error as AppError;
  }
  return new Error("nothing was refused");
}
