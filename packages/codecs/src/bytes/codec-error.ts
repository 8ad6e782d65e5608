/** The one error of the codecs, recognized by its `name`: bytes do not have the promised form. Its text does not contain user data. */
export type CodecError = Error & { readonly name: "CodecError" };

/** Makes a {@link CodecError}. */
export function codecError(text: string, cause?: unknown): CodecError {
  const error = cause === undefined ? new Error(text) : new Error(text, { cause });
  return Object.assign(error, { name: "CodecError" as const });
}

/** Recognizes a {@link CodecError} by its name, which also works across copies of this package. */
export function isCodecError(error: unknown): error is CodecError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "CodecError";
}
