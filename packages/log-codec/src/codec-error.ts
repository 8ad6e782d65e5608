/** The one error of this package, told by its `name`: bytes or columns that do not have the promised form. Its text holds no user data. */
export type LogCodecError = Error & { readonly name: "LogCodecError" };

/** Makes a {@link LogCodecError}. */
export function codecError(text: string, cause?: unknown): LogCodecError {
  const error = cause === undefined ? new Error(text) : new Error(text, { cause });
  return Object.assign(error, { name: "LogCodecError" as const });
}

/** Tells a {@link LogCodecError} by its name, so that it is recognised across copies of this package. */
export function isLogCodecError(error: unknown): error is LogCodecError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "LogCodecError";
}
