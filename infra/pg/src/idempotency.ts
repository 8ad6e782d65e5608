import { createHash, type Hash } from "node:crypto";
import { AppError } from "@tidemark/errors";
import { createPauses } from "@tidemark/work";
import type { Db, Tx } from "./db.ts";
import { sqlState } from "./pg-error.ts";
import { sql } from "./statement.ts";

/** A request that carries an `Idempotency-Key`. */
export type IdempotentRequest = {
  /** The header's value: 1..255 visible ASCII bytes. */
  key: string;
  /** Method and route template, so that one key cannot be used on two routes. */
  route: string;
  /** Ids of the path and the canonical JSON of the body; equal for equal requests. */
  parts: readonly (string | Uint8Array)[];
};

/** The reply, and whether it was given before. */
export type IdempotentReply = { reply: Uint8Array; replayed: boolean };

const claimStatement = sql("platform_claim_key", "SELECT same_body, reply FROM platform.claim_key($1, $2, $3)");
const keepKey = sql("platform_keep_key", "SELECT platform.keep_key($1, $2, $3, $4)");

const HASH_BYTES = 16;

/** Returns the first 16 bytes of SHA-256 over the parts, each preceded by its length so that different lists differ. */
export function fingerprint(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(beginPart(hash, part));
  return hash.digest().subarray(0, HASH_BYTES);
}

/** Bytes that are hashed at a time: less than a millisecond. */
const HASHED_TOGETHER = 256 * 1024;

async function fingerprintInTurns(parts: readonly (string | Uint8Array)[]): Promise<Uint8Array> {
  const hash = createHash("sha256");
  const pauseIfLong = createPauses();
  for (const part of parts) {
    const bytes = beginPart(hash, part);
    for (let at = 0; at < bytes.length; at += HASHED_TOGETHER) {
      hash.update(bytes.subarray(at, at + HASHED_TOGETHER));
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
    }
  }
  return hash.digest().subarray(0, HASH_BYTES);
}

/** Hashes the length of a part, and returns its bytes. */
function beginPart(hash: Hash, part: string | Uint8Array): Uint8Array {
  const bytes = typeof part === "string" ? Buffer.from(part, "utf8") : part;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  hash.update(length);
  return bytes;
}

/** Returns the hashes that identify a keyed request in the database: of its key and of its content. */
export function idempotencyHashes(request: IdempotentRequest): IdempotencyHashes {
  return { key: fingerprint([request.key]), body: fingerprint([request.route, ...request.parts]) };
}

/** As `idempotencyHashes`, for a request that may be large, in turns with other work of the process. @throws deadline_exceeded */
export async function idempotencyHashesInTurns(request: IdempotentRequest): Promise<IdempotencyHashes> {
  const body = await fingerprintInTurns([request.route, ...request.parts]);
  return { key: fingerprint([request.key]), body };
}

/** Hashes of an idempotency key and of the content that was sent with it. */
type IdempotencyHashes = { key: Uint8Array; body: Uint8Array };

/** Makes a 409: the key was used for another request (API specification, Idempotency). */
export function keyReused(): AppError {
  return new AppError("idempotency_key_reused", "this idempotency key was used for a different request");
}

/** Makes a 409 that asks for a retry: the first request with this key has not ended yet. */
export function keyInProgress(): AppError {
  return new AppError("idempotency_in_progress", "a request with this idempotency key is still running", {
    retryAfterSeconds: 1,
  });
}

/**
 * Runs `work` once per key, in one tenant transaction with its record: a repeat gets the stored
 * reply, and a failure leaves no record. `check` runs before the key is read, in every call, so that
 * a reply is never shown to a caller who may no longer see its subject. Without a request (no header),
 * `work` simply runs.
 * @throws idempotency_key_reused, idempotency_in_progress after 3 s of waiting.
 */
export function withIdempotency(
  db: Db,
  orgId: string,
  request: IdempotentRequest | undefined,
  check: (tx: Tx) => Promise<void>,
  work: (tx: Tx) => Promise<Uint8Array>,
  options: Parameters<Db["withTenant"]>[2] = {},
): Promise<IdempotentReply> {
  const once = async (tx: Tx): Promise<IdempotentReply> => {
    await check(tx);
    if (request === undefined) return { reply: await work(tx), replayed: false };
    const { key, body } = idempotencyHashes(request);
    const before = await claimKey(tx, orgId, { key, body });
    if (before !== undefined) return { reply: before, replayed: true };
    const reply = await work(tx);
    await keepReply(tx, orgId, { key, body }, reply);
    return { reply, replayed: false };
  };
  return db.withTenant(orgId, once, options);
}

/** Keeps the reply of a request whose key this transaction has claimed, in place of an earlier one. */
export async function keepReply(
  tx: Tx,
  orgId: string,
  { key, body }: { readonly key: Uint8Array; readonly body: Uint8Array },
  reply: Uint8Array,
): Promise<void> {
  await tx.rows(keepKey, [orgId, key, body, reply]);
}

/**
 * Takes a key for this transaction; waits for a transaction that holds it. Returns the reply of the same request, if there was one.
 * @throws idempotency_key_reused, idempotency_in_progress after 3 s of waiting.
 */
export async function claimKey(
  tx: Tx,
  orgId: string,
  { key, body }: { readonly key: Uint8Array; readonly body: Uint8Array },
): Promise<Uint8Array | undefined> {
  const before = await claim(tx, orgId, key, body);
  if (before?.same_body === false) throw keyReused();
  return before?.reply;
}

const ANY_BODY = new Uint8Array(HASH_BYTES);

/**
 * Returns whether a request with this key was answered, regardless of its content; the empty key means none. Waits for one in progress.
 * @throws idempotency_in_progress after 3 s of waiting.
 */
export async function isAnswered(db: Db, orgId: string, key: string): Promise<boolean> {
  if (key === "") return false;
  return db.withTenant(orgId, async (tx) => (await claim(tx, orgId, fingerprint([key]), ANY_BODY)) !== undefined);
}

async function claim(tx: Tx, orgId: string, key: Uint8Array, body: Uint8Array) {
  try {
    return await tx.one<{ same_body: boolean; reply: Uint8Array }>(claimStatement, [orgId, key, body]);
  } catch (error) {
    if (sqlState(error) === "55P03") throw keyInProgress();
    throw error;
  }
}
