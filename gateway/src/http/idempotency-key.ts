import { badRequest } from "@tidemark/errors";
import { headerNames } from "../header-names.ts";

const shape = /^[\x21-\x7e]{1,255}$/;

/**
 * Reads `Idempotency-Key`: 1 to 255 visible ASCII characters; blank means that there is none.
 * @throws bad_request for other keys, and for none where one is required.
 */
export function readIdempotencyKey(
  header: string | string[] | undefined,
  use: "none" | "optional" | "required",
): string | undefined {
  if (use === "none") return undefined;
  const key = typeof header === "string" ? header.trim() : "";
  if (key === "") {
    if (use === "required") throw badRequest("the header Idempotency-Key is required", headerNames.idempotencyKey);
    return undefined;
  }
  if (!shape.test(key)) {
    throw badRequest("Idempotency-Key must be 1 to 255 visible ASCII characters", headerNames.idempotencyKey);
  }
  return key;
}
