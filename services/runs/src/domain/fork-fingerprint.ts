import { exactNumber, fingerprintOf } from "../documents/exact-json.rules.ts";
import type { ForkWish } from "./fork.ts";

/**
 * 32 bytes that are equal for equal fork requests of one run, after texts were trimmed and defaults
 * filled in. The order of keys does not matter, that of tags does; numbers are equal when their
 * decimal values are.
 */
export function forkFingerprint(runId: string, wish: ForkWish): Uint8Array {
  return fingerprintOf({
    fork_of: runId,
    name: wish.name ?? null,
    step: wish.step === undefined ? null : exactNumber(wish.step),
    checkpoint_artifact_id: wish.checkpointArtifactId ?? null,
    inherit_config: wish.inheritConfig,
    config_overrides: wish.configOverrides,
    tags: wish.tags,
    notes: wish.notes ?? null,
    metadata: wish.metadata,
  });
}
