import { create } from "@bufbuild/protobuf";
import { AppError } from "@tidemark/errors";
import { putOutbox, type Tx } from "@tidemark/pg";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import { equalHashes, parseCredential } from "@tidemark/credentials";
import { requirePeopleManager } from "../organizations/users.ts";
import { scopesOfRole } from "../organizations/people.rules.ts";
import type { ControlDeps } from "../deps.ts";
import { lockKey, lockSession, type KeyRights, findCredential, type CredentialFacts } from "./projection.sql.ts";

/** The caller, with its current rights. */
export type LockedCaller = {
  readonly identity: Identity | undefined;
  /** When the key of the caller ends; undefined for a key that does not end, and for all other callers. */
  readonly expiresAt: Date | undefined;
  /** The user who made the key of the caller; undefined if unknown, and for all other callers. */
  readonly madeBy: string | undefined;
};

/**
 * Reads the caller's credential again and locks it until the transaction ends: a gateway's copy may be one second old, or ten, and a credential
 * that has ended must not make another one.
 * @throws unauthenticated for one that has ended
 */
export async function lockCaller(tx: Tx, { identity }: Call, now: Date): Promise<LockedCaller> {
  if (identity?.kind === CallerKind.API_KEY) {
    const key = await lockLiveKey(tx, identity.orgId, identity.credentialId, now);
    return {
      identity: create(IdentitySchema, { ...identity, scopes: key.scopes, projectId: key.project_id ?? "" }),
      expiresAt: key.expires_at === null ? undefined : new Date(key.expires_at),
      madeBy: key.created_by_user_id ?? undefined,
    };
  }
  if (identity?.kind === CallerKind.SESSION) {
    const session = await lockSession(tx, identity.orgId, identity.credentialId);
    if (session === undefined || session.status !== "active" || hasEnded(session, now)) throw ended();
    const { role } = session;
    return {
      identity: create(IdentitySchema, { ...identity, role, scopes: [...scopesOfRole(role)] }),
      expiresAt: undefined,
      madeBy: undefined,
    };
  }
  return { identity, expiresAt: undefined, madeBy: undefined };
}

/**
 * Requires that the caller may manage an organization's people, by its current rights, which it keeps until the transaction ends.
 * A transaction that changes people has locked the organization before.
 * @throws forbidden, unauthenticated for a credential that has ended
 */
export async function lockPeopleManager(tx: Tx, call: Call, now: Date): Promise<LockedCaller> {
  requirePeopleManager(call);
  const caller = await lockCaller(tx, call, now);
  requirePeopleManager(caller);
  return caller;
}

/** Reads a key by the id in its text. No other transaction revokes it until this one ends. @throws unauthenticated for one that has ended */
export async function lockLiveKey(tx: Tx, orgId: string, credentialId: string, now: Date): Promise<KeyRights> {
  const key = await lockKey(tx, orgId, credentialId);
  if (key === undefined || hasEnded(key, now)) throw ended();
  return key;
}

function hasEnded(
  { revoked_at, expires_at }: { readonly revoked_at: string | null; readonly expires_at: string | null },
  now: Date,
): boolean {
  return revoked_at !== null || (expires_at !== null && new Date(expires_at) <= now);
}

function ended(): AppError {
  return new AppError("unauthenticated", "invalid or expired credentials");
}

/** The subject that wakes every reader of the projection. The message is empty: readers ask for the changes. */
export const projectionChangedSubject = "tidemark.control.projection_changed.v1";

/** Adds the wake-up to the transaction of the change. Nudge the relay when the transaction has committed. */
export function announceChange(tx: Tx, orgId: string): Promise<void> {
  return putOutbox(tx, orgId, { service: "control", subject: projectionChangedSubject, payload: new Uint8Array() });
}

/** Runs one transaction of an organization that changes the projection, and wakes gateways when it has committed. */
export async function commitProjectionChange<T>(
  deps: ControlDeps,
  orgId: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const result = await deps.db.withTenant(orgId, async (tx) => {
    const done = await work(tx);
    await announceChange(tx, orgId);
    return done;
  });
  deps.wakeRelay();
  return result;
}

/**
 * Returns the credential of a text, if it is of the kind and works at `now`: it was issued with this secret, it
 * is neither revoked nor expired, and its organization was not deleted. Returns undefined for every other text.
 */
export async function findLiveCredential(
  tx: Tx,
  kind: CredentialFacts["kind"],
  text: string,
  now: Date,
): Promise<CredentialFacts | undefined> {
  const credential = parseCredential(text);
  if (credential === undefined || credential.kind !== kind) return undefined;
  const found = await findCredential(tx, kind, credential.id);
  if (found === undefined || !equalHashes(found.hash, credential.hash)) return undefined;
  const expired = found.expires_at !== null && new Date(found.expires_at) <= now;
  return found.revoked || found.deleted || expired ? undefined : found;
}
