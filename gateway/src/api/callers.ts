import type { Callers, CredentialCallers } from "../auth/callers.ts";

/** Callers who manage keys: operators, owners and admins, and keys with this scope. */
export const keyManagers: Callers = {
  kind: "credentials",
  key: { scopes: ["api_keys:write"] },
  session: { roles: ["owner", "admin"] },
  operator: true,
};

/** Callers who manage people: operators, owners and admins. Keys are refused regardless of their scopes. */
export const peopleManagers: Callers = {
  kind: "credentials",
  key: { refused: 403 },
  session: { roles: ["owner", "admin"] },
  operator: true,
};

/** Callers who delete an organization: operators, owners and admins. It can be repeated from a session in it. */
export const organizationDeleters: Callers = { ...peopleManagers, key: { refused: 401 }, fromDeleted: true };

/** Signed-in callers. Keys are refused. */
export const signedIn: Callers = {
  kind: "credentials",
  key: { refused: 401 },
  session: { roles: ["owner", "admin", "member", "viewer"] },
};

/** Signed-in callers, also in an organization that is deleted. Keys are refused. */
export const signedInAnywhere: Callers = { ...signedIn, fromDeleted: true };

/** Operators, and signed-in callers, also in an organization that is deleted; the service requires an owner or admin of the one that the path names. */
export const organizationRestorers: Callers = { ...signedIn, operator: true, fromDeleted: true };

/** Signed-in callers who may write. Keys are refused. */
export const signedInWriters: Callers = {
  kind: "credentials",
  key: { refused: 401 },
  session: { roles: ["owner", "admin", "member"] },
};

/** Owners and admins who are signed in. */
export const signedInAdmins: Callers = {
  kind: "credentials",
  key: { refused: 401 },
  session: { roles: ["owner", "admin"] },
};

/** Routes that write run data: a key with `sdk:ingest` or a session that may write. */
export const ingestCallers: Callers = {
  kind: "credentials",
  key: { scopes: ["sdk:ingest"] },
  session: { roles: ["owner", "admin", "member"] },
};

/** Routes that write artifacts: a key for these or for any run data, or a session that may write. */
export const artifactWriters: CredentialCallers = {
  kind: "credentials",
  key: { scopes: ["artifacts:write", "sdk:ingest"] },
  session: { roles: ["owner", "admin", "member"] },
};

/** Routes that change what others rely on: a key for that or for any run data, owners and admins. */
export const artifactManagers: Callers = {
  kind: "credentials",
  key: { scopes: ["artifacts:manage", "sdk:ingest"] },
  session: { roles: ["owner", "admin"] },
};

/** Routes that read: a key with `export:read` or any session. */
export const readCallers: Callers = {
  kind: "credentials",
  key: { scopes: ["export:read"] },
  session: { roles: ["owner", "admin", "member", "viewer"] },
};

/** Callers who see what the organization uses: keys for that or for reading, owners and admins. */
export const usageReaders: Callers = {
  kind: "credentials",
  key: { scopes: ["usage:read", "export:read"] },
  session: { roles: ["owner", "admin"] },
};

/** Routes whose rows may be open to anyone. Readers of the organization see more. */
export const readersOrAnyone: Callers = { ...readCallers, orAnyone: true };

/** Callers who ask runs to stop: keys with the scope for it, and sessions that may write. */
export const controllers: Callers = {
  kind: "credentials",
  key: { scopes: ["runs:control"] },
  session: { roles: ["owner", "admin", "member"] },
};

/** Training processes. Sessions are refused. */
export const trainers: Callers = {
  kind: "credentials",
  key: { scopes: ["sdk:ingest"] },
  session: { refused: 403 },
};

/** Callers who read the parent and write the child: a key with both scopes, a session that may write. */
export const forkCallers: Callers = {
  kind: "credentials",
  key: { allScopes: ["export:read", "sdk:ingest"] },
  session: { roles: ["owner", "admin", "member"] },
};

/** Callers who import runs: a key for that or for any run data, or a session that may write. */
export const importers: Callers = {
  kind: "credentials",
  key: { scopes: ["imports:write", "sdk:ingest"] },
  session: { roles: ["owner", "admin", "member"] },
};

/** Callers who see imports: those who import or who read. */
export const importReaders: Callers = {
  kind: "credentials",
  key: { scopes: ["imports:write", "sdk:ingest", "export:read"] },
  session: { roles: ["owner", "admin", "member", "viewer"] },
};
