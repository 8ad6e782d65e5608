/** The one error of this package, recognized by its `name`: bytes or columns do not have the promised form. Its text does not contain user data. */
export type LogCodecError = Error & { readonly name: "LogCodecError" };

/** Makes a {@link LogCodecError}. */
export function codecError(text: string, cause?: unknown): LogCodecError {
  const error = cause === undefined ? new Error(text) : new Error(text, { cause });
  return Object.assign(error, { name: "LogCodecError" as const });
}

/** Recognizes a {@link LogCodecError} by its name, which also works across copies of this package. */
export function isLogCodecError(error: unknown): error is LogCodecError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "LogCodecError";
}
