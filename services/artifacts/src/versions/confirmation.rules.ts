import { badRequest } from "@tidemark/errors";

/** Compares the text that a request repeats as its confirmation, and requires its reason. @throws bad_request */
export function requireConfirmation(
  { confirm, reason }: { readonly confirm: string; readonly reason: string },
  expected: string,
  what: string,
): void {
  if (confirm !== expected) throw badRequest(`confirm must be ${what}`, "confirm");
  if (reason.trim() === "") throw badRequest("reason is required", "reason");
}
