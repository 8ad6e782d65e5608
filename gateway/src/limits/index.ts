// What benchmarks measure by itself.
export { createHeldTokens, type Lease, type Leased } from "./held-tokens.ts";
export { createLimiter, type Limiter } from "./limiter.ts";
export { createRequestCounts } from "./request-counts.ts";
