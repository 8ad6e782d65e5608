import { CredentialKind } from "@tidemark/proto/control/v1/control";
import { recordUse } from "../store/record-use.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";

const usesMax = 1000;

/** Notes when credentials were last used; unknown ones are passed over, and what is beyond 1000 is dropped. */
export function recordCredentialUse({ db }: ControlDeps): ControlHandlers["recordCredentialUse"] {
  return async ({ uses }) => {
    const known = uses.slice(0, usesMax).map(({ kind, id, usedAt }) => ({
      kind: kind === CredentialKind.SESSION ? ("session" as const) : ("api_key" as const),
      id,
      usedAt,
    }));
    if (known.length > 0) await recordUse(db, known);
    return {};
  };
}
