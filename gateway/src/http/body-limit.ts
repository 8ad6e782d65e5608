import { AppError } from "@tidemark/errors";

/** Bytes of a body unless its route says otherwise (API specification, Limits; the limit is on the decoded body). */
export const BODY_BYTES_MAX = 1_000_000;

/** The refusal of a body above its limit. */
export function bodyTooLarge(bytesMax: number): AppError {
  return new AppError("payload_too_large", `the body must have at most ${bytesMax} bytes`);
}

/** Gets the decoded body, or why there is none: `bad_request` or `payload_too_large`. */
export type BodyRead = (error: Error | null, body?: Buffer) => void;
