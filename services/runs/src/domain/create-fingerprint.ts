import { fingerprintOf, type ExactObject } from "../documents/exact-json.rules.ts";

/** What makes two create requests the same one, after names were trimmed and defaults filled in. */
export type FingerprintedRequest = {
  readonly id: string;
  readonly project: string;
  /** Null when the client left the name to the server. */
  readonly name: string | null;
  readonly config: ExactObject;
  readonly tags: readonly string[];
  readonly metadata: ExactObject;
};

/**
 * 32 bytes that are equal for equal requests. The order of keys does not matter, that of tags does;
 * numbers are equal when their decimal values are, so `1.0` equals `1` and 9007199254740993 does not
 * equal 9007199254740992.
 */
export function createFingerprint(request: FingerprintedRequest): Uint8Array {
  const { id, project, name, config, tags, metadata } = request;
  return fingerprintOf({ id, project, name, config, tags, metadata });
}
