import { badRequest } from "@tidemark/errors";
import type { FieldFault } from "@tidemark/proto/common/v1/common";

/**
 * Throws the fault that the gateway found in the body or the query, if it found one. Call it after the row of the path
 * was found: a missing row goes before a bad field.
 * @throws bad_request
 */
export function throwFault(fault: Pick<FieldFault, "text" | "field"> | undefined): void {
  // A fault of no single field has an empty field on the wire; clients get none.
  if (fault !== undefined) throw badRequest(fault.text, fault.field || undefined);
}
