import { badRequest, type AppError } from "@tidemark/errors";

/** A fault of body or query that the gateway found, as the error it becomes once the row of the path is there. */
export function requestFault({ text, field }: { readonly text: string; readonly field: string }): AppError {
  // On the wire between processes a fault of no single field has an empty one; clients get none.
  return badRequest(text, field === "" ? undefined : field);
}
