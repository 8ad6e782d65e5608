import { create } from "@bufbuild/protobuf";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import { CredentialKind, type CredentialEntry, type OrganizationEntry } from "@tidemark/proto/control/v1/control";

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
