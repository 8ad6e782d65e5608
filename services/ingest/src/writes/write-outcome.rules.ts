/** Hashes of an idempotency key and of the request that was sent with it. */
export type IdempotencyHashes = { readonly key: Uint8Array; readonly body: Uint8Array };

/**
 * The outcome of a write: it was stored now (`inserted`), the same request stored it before (`replayed`), another request used the key
 * (`reused`), or the run does not exist for the caller (`not_found`). `projectId` is null when the run was known before the write.
 */
export type WriteOutcome =
  | { readonly outcome: "inserted" | "replayed"; readonly inserted: number; readonly projectId: string | null }
  | { readonly outcome: "reused" }
  | { readonly outcome: "not_found" };
