import { isAppError } from "@tidemark/errors";

/** The fields of `tidemark.common.v1.FieldFault`. */
export type Fault = { readonly text: string; readonly field: string };

/** What reading a body or query came to: a value, or the first fault in it. */
export type Faulty<T> =
  | { readonly value: T; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: Fault };

/**
 * Reads a body or query whose faults must wait: on routes with a row in their path a missing row
 * (404) goes before a bad request (400), so the fault travels to the service as `body_fault` or
 * `query_fault` instead of being thrown here.
 * Only `bad_request` is held back; every other error is thrown on.
 */
export function withFault<T>(read: () => T): Faulty<T> {
  try {
    return { value: read() };
  } catch (error) {
    if (isAppError(error) && error.reason === "bad_request") {
      return { fault: { text: error.message, field: error.field ?? "" } };
    }
    throw error;
  }
}
