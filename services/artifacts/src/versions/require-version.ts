import { gone, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { canSee, type Caller } from "@tidemark/requests";
import { readVersions, type VersionRow } from "./versions.sql.ts";

/** The name of a version in errors. */
export const VERSION = "artifact version";

/** Returns a version that the caller may see, in any state. @throws not_found of `what` */
export async function requireVersion(
  tx: Tx,
  caller: Caller,
  versionId: string,
  what: string = VERSION,
): Promise<VersionRow> {
  const [version] = await readVersions(tx, caller.orgId, [versionId]);
  if (version === undefined || !canSee(caller, version)) throw notFound(what);
  return version;
}

/** Returns a version that the caller may see and use. @throws not_found, gone, both of `what` */
export async function requireAvailable(
  tx: Tx,
  caller: Caller,
  versionId: string,
  what: string = VERSION,
): Promise<VersionRow> {
  const version = await requireVersion(tx, caller, versionId, what);
  if (!version.available) throw gone(what);
  return version;
}

/** Returns a version that is known to exist. */
export async function requireStoredVersion(tx: Tx, orgId: string, versionId: string): Promise<VersionRow> {
  const [version] = await readVersions(tx, orgId, [versionId]);
  if (version === undefined) throw new Error("a version that was written is missing");
  return version;
}
