import { callerOf } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { readStorage } from "./storage.sql.ts";

/** ArtifactsService.GetStorage: of the whole organization, no matter which project the caller may see. */
export function getStorage({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["getStorage"] {
  return async (_request, call) => {
    const { orgId } = callerOf(call);
    const row = await db.readTenant(orgId, (tx) => readStorage(tx, orgId), { plans: "walks" });
    if (row === undefined) return {};
    return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, BigInt(value)]));
  };
}
