import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { countDue } from "./due.sql.ts";
import { sweep } from "./sweep.ts";

/** Sweeps now, or with `dry_run` only counts what is due. @throws service_unavailable */
export function sweepNow(deps: ArtifactsDeps): ArtifactsHandlers["sweep"] {
  return async ({ dryRun }) => {
    const { sessions, versionsExpired, versionsPurged, objects, bytes } = dryRun
      ? await countDue(deps.workerDb)
      : await sweep(deps);
    return {
      sessions: BigInt(sessions),
      versionsExpired: BigInt(versionsExpired),
      versionsPurged: BigInt(versionsPurged),
      objects: BigInt(objects),
      bytes: BigInt(bytes),
    };
  };
}
