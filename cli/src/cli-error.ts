/** Ends the command with a message for the user: exit code 1 for a failure, 2 for wrong usage. `status` is the status of a server that refused. */
export type CliError = Error & { readonly name: "CliError"; readonly exitCode: 1 | 2; readonly status?: number };

/** Makes the error of something that failed. */
export function failure(text: string, cause?: unknown): CliError {
  return make(text, 1, cause);
}

/** Makes the error of a wrong use of the command. */
export function usageFault(text: string): CliError {
  return make(text, 2);
}

function make(text: string, exitCode: 1 | 2, cause?: unknown): CliError {
  const error = cause === undefined ? new Error(text) : new Error(text, { cause });
  return Object.assign(error, { name: "CliError" as const, exitCode });
}

/** Recognizes a {@link CliError}. */
export function isCliError(error: unknown): error is CliError {
  return error instanceof Error && error.name === "CliError";
}
