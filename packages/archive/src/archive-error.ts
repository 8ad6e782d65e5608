/** The one error of this package, recognized by its `name`: a line is not one of an archive. Its text names members of the line, and no values. */
export type ArchiveError = Error & { readonly name: "ArchiveError" };

/** Makes an {@link ArchiveError}. */
export function archiveError(text: string, cause?: unknown): ArchiveError {
  const error = cause === undefined ? new Error(text) : new Error(text, { cause });
  return Object.assign(error, { name: "ArchiveError" as const });
}

/** Recognizes an {@link ArchiveError} by its name, which also works across copies of this package. */
export function isArchiveError(error: unknown): error is ArchiveError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "ArchiveError";
}
