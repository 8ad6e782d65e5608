/** The one error of this package, recognized by its `name`: bytes or columns do not have the promised form. Its text does not contain user data. */
export type CodecError = Error & { readonly name: "CodecError" };

/** Makes a {@link CodecError}. */
export function codecError(text: string): CodecError {
  return Object.assign(new Error(text), { name: "CodecError" as const });
}

/** Recognizes a {@link CodecError} by its name, which also works across copies of this package. */
export function isCodecError(error: unknown): error is CodecError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "CodecError";
}
