/** Makes an error for bytes that this codec did not write. */
export function codecError(text: string): Error {
  const error = new Error(text);
  error.name = "SpanCodecError";
  return error;
}

/** Returns whether an error says that bytes are damaged. */
export function isSpanCodecError(error: unknown): boolean {
  return error instanceof Error && error.name === "SpanCodecError";
}
