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

/** A credential as the directory knows it, with its organization. */
export type KnownCredential = { readonly entry: CredentialEntry; readonly organization: OrganizationEntry };

/** Entries of one page, or of one look-up. */
export type DirectoryEntries = {
  readonly organizations: readonly OrganizationEntry[];
  readonly credentials: readonly CredentialEntry[];
};

/** Everything that the gateway knows of organizations and credentials, in memory. */
export type Directory = {
  readonly find: (kind: CredentialKind, id: string) => KnownCredential | undefined;
  /** Adds entries, or replaces those of the same id. */
  readonly put: (entries: DirectoryEntries) => void;
  /**
   * Adds only what is not known: the answer to a look-up may be older than a page that came
   * meanwhile, and must not bring a revoked credential back.
   */
  readonly putMissing: (entries: DirectoryEntries) => void;
  /** Begins a snapshot beside what is known; until `endSnapshot` both are kept up to date. */
  readonly beginSnapshot: () => void;
  /** What the snapshot does not hold is forgotten. Without a snapshot it does nothing. */
  readonly endSnapshot: () => void;
};

type Tables = { organizations: Map<string, OrganizationEntry>; credentials: Map<string, CredentialEntry> };

const emptyTables = (): Tables => ({ organizations: new Map(), credentials: new Map() });
const keyOf = (kind: CredentialKind, id: string): string => `${kind}:${id}`;

/** Makes a directory that knows nothing. */
export function createDirectory(): Directory {
  let current = emptyTables();
  let next: Tables | undefined;
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
    beginSnapshot() {
      next = emptyTables();
    },
    endSnapshot() {
      current = next ?? current;
      next = undefined;
    },
  };
}

/** Tells whether a credential still opens anything: not revoked, not expired, its organization not deleted. */
export function isLive({ entry, organization }: KnownCredential, nowMs: number): boolean {
  return !entry.revoked && !organization.deleted && (entry.expiresAt === "" || Date.parse(entry.expiresAt) > nowMs);
}

/** Who the holder of a credential is. */
export function identityOf({ entry, organization }: KnownCredential): Identity {
  return create(IdentitySchema, {
    orgId: entry.orgId,
    kind: entry.kind === CredentialKind.SESSION ? CallerKind.SESSION : CallerKind.API_KEY,
    credentialId: entry.id,
    scopes: entry.scopes,
    projectId: entry.projectId,
    userId: entry.userId,
    role: entry.role,
    planTier: organization.planTier,
    billingState: organization.billingState,
  });
}

/** Finds credentials: in memory, and where memory does not say, at the control service. */
export type Access = {
  /** What memory says; `undefined` when it does not know the credential or is too old to be believed. */
  readonly known: (kind: CredentialKind, id: string) => KnownCredential | undefined;
  /**
   * Asks the control service; `undefined` when there is no such credential.
   * @throws service_unavailable when it cannot be asked: in doubt nobody is turned away for good.
   */
  readonly lookUp: (kind: CredentialKind, id: string) => Promise<KnownCredential | undefined>;
};

/** For how long a credential that does not exist is not asked for again. */
const UNKNOWN_MS = 1000;
const UNKNOWN_MAX = 10_000;

/** Makes the access; `ask` calls the control service, `fresh` tells whether the directory may be believed. */
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
