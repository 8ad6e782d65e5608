/** The one error of this package, told by its `name`: bytes or columns that do not have the promised form. Its text holds no user data. */
export type CodecError = Error & { readonly name: "CodecError" };

/** Makes a {@link CodecError}. */
export function codecError(text: string): CodecError {
  return Object.assign(new Error(text), { name: "CodecError" as const });
}

/** Tells a {@link CodecError} by its name, so that it is recognised across copies of this package. */
export function isCodecError(error: unknown): error is CodecError {
  return typeof error === "object" && error !== null && "name" in error && error.name === "CodecError";
}
