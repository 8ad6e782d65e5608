import type { Callers } from "../route.ts";

/** Who manages keys: operators, owners and admins, and keys that hold exactly this scope. */
export const keyManagers: Callers = {
  kind: "credentials",
  key: { scopes: ["api_keys:write"] },
  session: { roles: ["owner", "admin"] },
  operator: true,
};

/** Who manages people: operators, owners and admins. No scope opens it to keys. */
export const peopleManagers: Callers = {
  kind: "credentials",
  key: { refused: 403 },
  session: { roles: ["owner", "admin"] },
  operator: true,
};

/** Anybody who is signed in; a key is no session. */
export const signedIn: Callers = {
  kind: "credentials",
  key: { refused: 401 },
  session: { roles: ["owner", "admin", "member", "viewer"] },
};

/** Owners and admins who are signed in. */
export const signedInAdmins: Callers = {
  kind: "credentials",
  key: { refused: 401 },
  session: { roles: ["owner", "admin"] },
};
