import { create } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { AppError } from "@tidemark/errors";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import {
  CredentialKind,
  type CredentialEntry,
  type LookupCredentialResponse,
  type OrganizationEntry,
} from "@tidemark/proto/control/v1/control";

/** A credential of the directory with its organization. */
export type KnownCredential = { readonly entry: CredentialEntry; readonly organization: OrganizationEntry };

/** Entries of one page, or of one look-up. */
export type DirectoryEntries = {
  readonly organizations: readonly OrganizationEntry[];
  readonly credentials: readonly CredentialEntry[];
};

/** All organizations and credentials that the gateway knows, in memory. */
export type Directory = {
  readonly find: (kind: CredentialKind, id: string) => KnownCredential | undefined;
  /** Adds entries, or replaces those of the same id. */
  readonly put: (entries: DirectoryEntries) => void;
  /**
   * Adds only what is unknown: the answer to a look-up may be older than a page that was received
   * meanwhile, and must not restore a revoked credential.
   */
  readonly putMissing: (entries: DirectoryEntries) => void;
  /**
   * Looks at the next `entriesMax` credentials, and forgets those that ended ten minutes ago or more, so that no look-up that began before their end can
   * still report them as valid. `nowMs` is the wall clock.
   */
  readonly forgetEnded: (nowMs: number, entriesMax: number) => void;
  /** Begins a snapshot next to the current tables; until `endSnapshot` both are kept up to date. */
  readonly beginSnapshot: () => void;
  /** Replaces the current tables with the snapshot. Without a snapshot it does nothing. */
  readonly endSnapshot: () => void;
};

type Tables = { organizations: Map<string, OrganizationEntry>; credentials: Map<string, CredentialEntry> };

const emptyTables = (): Tables => ({ organizations: new Map(), credentials: new Map() });
const keyOf = (kind: CredentialKind, id: string): string => `${kind}:${id}`;

/** Much longer than a look-up takes. */
const ENDED_MS = 10 * 60_000;

/** Creates an empty directory. */
export function createDirectory(): Directory {
  let current = emptyTables();
  let next: Tables | undefined;
  // When a credential was first seen to have ended.
  const endedSince = new Map<string, number>();
  let walk: Iterator<[string, CredentialEntry]> | undefined;
  const putInto = (tables: Tables, { organizations, credentials }: DirectoryEntries): void => {
    for (const organization of organizations) tables.organizations.set(organization.id, organization);
    for (const entry of credentials) tables.credentials.set(keyOf(entry.kind, entry.id), entry);
  };
  const putMissingInto = (tables: Tables, { organizations, credentials }: DirectoryEntries): void =>
    putInto(tables, {
      organizations: organizations.filter(({ id }) => !tables.organizations.has(id)),
      credentials: credentials.filter(({ kind, id }) => !tables.credentials.has(keyOf(kind, id))),
    });
  return {
    find(kind, id) {
      const entry = current.credentials.get(keyOf(kind, id));
      const organization = entry === undefined ? undefined : current.organizations.get(entry.orgId);
      return entry === undefined || organization === undefined ? undefined : { entry, organization };
    },
    put(entries) {
      putInto(current, entries);
      if (next !== undefined) putInto(next, entries);
    },
    putMissing(entries) {
      putMissingInto(current, entries);
      if (next !== undefined) putMissingInto(next, entries);
    },
    forgetEnded(nowMs, entriesMax) {
      walk ??= current.credentials.entries();
      for (let seen = 0; seen < entriesMax; seen++) {
        const step = walk.next();
        if (step.done === true) {
          walk = undefined;
          return;
        }
        const [key, entry] = step.value;
        const since = endedSince.get(key);
        if (!hasEnded(entry, nowMs)) endedSince.delete(key);
        else if (since === undefined) endedSince.set(key, nowMs);
        else if (nowMs - since >= ENDED_MS) {
          endedSince.delete(key);
          current.credentials.delete(key);
          next?.credentials.delete(key);
        }
      }
    },
    beginSnapshot() {
      next = emptyTables();
    },
    endSnapshot() {
      if (next === undefined) return;
      current = next;
      next = undefined;
      walk = undefined;
      endedSince.clear();
    },
  };
}

/** Returns whether a credential is valid: not revoked, not expired, its organization not deleted. */
export function isLive(known: KnownCredential, nowMs: number): boolean {
  return !known.organization.deleted && isUnended(known, nowMs);
}

/** As `isLive`; the organization may be deleted. */
export function isUnended({ entry }: KnownCredential, nowMs: number): boolean {
  return !hasEnded(entry, nowMs);
}

function hasEnded({ revoked, expiresAt }: CredentialEntry, nowMs: number): boolean {
  return revoked || (expiresAt !== "" && Date.parse(expiresAt) <= nowMs);
}

/** Returns the identity of a credential's holder. A session that was made from an API key counts as that key. */
export function identityOf({ entry, organization }: KnownCredential): Identity {
  const isOfMember = entry.kind === CredentialKind.SESSION && entry.keyId === "";
  return create(IdentitySchema, {
    orgId: entry.orgId,
    kind: isOfMember ? CallerKind.SESSION : CallerKind.API_KEY,
    credentialId: entry.keyId === "" ? entry.id : entry.keyId,
    scopes: entry.scopes,
    projectId: entry.projectId,
    userId: entry.userId,
    role: entry.role,
    planTier: organization.planTier,
    billingState: organization.billingState,
  });
}

/** Finds credentials in memory or, where memory does not know them, at the control service. */
export type Access = {
  /** Returns what memory knows; `undefined` when it does not know the credential or is too old to be trusted. */
  readonly known: (kind: CredentialKind, id: string) => KnownCredential | undefined;
  /**
   * Asks the control service; `undefined` when the credential does not exist.
   * @throws service_unavailable when it cannot be reached: in doubt the client must try again
   */
  readonly lookUp: (kind: CredentialKind, id: string) => Promise<KnownCredential | undefined>;
};

/** Milliseconds for which a credential that does not exist is not looked up again. */
const UNKNOWN_MS = 1000;
const UNKNOWN_MAX = 10_000;

/** Creates the access; `ask` calls the control service, `fresh` reports whether the directory may be trusted. */
export function createAccess(options: {
  readonly directory: Directory;
  readonly fresh: () => boolean;
  readonly ask: (kind: CredentialKind, id: string) => Promise<LookupCredentialResponse>;
  readonly nowMs: () => number;
}): Access {
  const { directory, fresh, ask, nowMs } = options;
  const asked = new Map<string, Promise<KnownCredential | undefined>>();
  const unknownUntil = new LRUCache<string, number>({ max: UNKNOWN_MAX });

  const askOnce = async (kind: CredentialKind, id: string, key: string): Promise<KnownCredential | undefined> => {
    const { entry, organization } = await ask(kind, id).catch((cause: unknown) => {
      throw new AppError("service_unavailable", "credentials cannot be checked at the moment; try again", {
        retryAfterSeconds: 1,
        cause,
      });
    });
    if (entry === undefined || organization === undefined) {
      unknownUntil.set(key, nowMs() + UNKNOWN_MS);
      return undefined;
    }
    directory.putMissing({ organizations: [organization], credentials: [entry] });
    return { entry, organization };
  };

  return {
    known: (kind, id) => (fresh() ? directory.find(kind, id) : undefined),
    lookUp(kind, id) {
      const key = `${kind}:${id}`;
      if ((unknownUntil.get(key) ?? 0) > nowMs()) return Promise.resolve(undefined);
      let answer = asked.get(key);
      if (answer === undefined) {
        answer = askOnce(kind, id, key).finally(() => asked.delete(key));
        asked.set(key, answer);
      }
      return answer;
    },
  };
}
