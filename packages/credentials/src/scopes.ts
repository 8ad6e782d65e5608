/** Every scope there is: what a credential may be allowed to do (API specification, Authentication). */
export const scopes = [
  "sdk:ingest",
  "export:read",
  "runs:control",
  "artifacts:write",
  "artifacts:manage",
  "imports:write",
  "usage:read",
  "api_keys:write",
] as const;

/** One of them. */
export type Scope = (typeof scopes)[number];
