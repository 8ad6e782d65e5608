import { headerNames } from "../http/headers.ts";
import type { Route, Schema } from "../route.ts";

const whole: Schema = { type: "integer", minimum: 0 };
const retryAfter = {
  "Retry-After": { description: "Whole seconds until another request may go through.", schema: whole },
};

/** Returns the headers of the limits that an answer has, as OpenAPI describes headers. Only requests of organizations have them on all answers. */
export function limitHeaders({ rate, callers }: Pick<Route, "rate" | "callers">, status: number): Schema {
  if (rate === "none" || callers.kind === "anyone" || status >= 500) return status === 429 ? retryAfter : {};
  return {
    [headerNames.rateLimitScope[0]]: {
      description:
        "`second`: the headers are about the rate; `monthly`: the allowance of the month is used up. Absent where limits are off.",
      schema: { enum: ["second", "monthly"] },
    },
    "RateLimit-Limit": { description: "Requests per second, or of the month.", schema: { type: "number" } },
    "RateLimit-Remaining": { description: "Requests that may be made now.", schema: whole },
    "RateLimit-Reset": { description: "Whole seconds to wait; 0 unless refused.", schema: whole },
    ...(status === 429 ? retryAfter : {}),
  };
}
