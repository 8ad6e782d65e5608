import { CredentialKind } from "@tidemark/proto/control/v1/control";
import { findCredential } from "../store/find-credential.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeCredentialEntry, encodeOrganizationEntry } from "./encode-projection.ts";

/** Reads one credential from the database itself, so that one made a moment ago is known everywhere. */
export function lookupCredential({ db }: ControlDeps): ControlHandlers["lookupCredential"] {
  return async ({ kind, id }) => {
    const found = await findCredential(db, kind === CredentialKind.SESSION ? "session" : "api_key", id);
    if (found === undefined) return {};
    return { entry: encodeCredentialEntry(found), organization: encodeOrganizationEntry(found) };
  };
}
