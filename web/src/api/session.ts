import { signal, type ReadonlySignal } from "@preact/signals";
import { call, holdRequests, releaseRequests } from "./client.ts";
import { forgetProjectIds } from "./project-id.ts";
import { forgetQueries } from "./queries.ts";

/** The role of a member of an organization. */
export type Role = "owner" | "admin" | "member" | "viewer";

/** An organization of the signed-in person. */
type MembershipSummary = {
  readonly org_id: string;
  readonly name: string;
  readonly slug: string;
  readonly role: Role;
  readonly is_current: boolean;
  readonly deleted_at?: string | null;
};

/** The signed-in session. `user` and `membership` are null if the session was made from an API key; `metadata` has the key's rights. */
export type Session = {
  readonly session: {
    readonly id: string;
    readonly org_id: string;
    readonly user_id: string | null;
    readonly expires_at: string;
    readonly metadata: { readonly scopes?: readonly string[]; readonly project_id?: string | null };
  };
  readonly user: { readonly id: string; readonly primary_email: string; readonly display_name: string | null } | null;
  readonly organization: {
    readonly id: string;
    readonly name: string;
    readonly slug: string;
    readonly plan_tier: string;
    readonly seat_limit: number;
  };
  readonly membership: { readonly id: string; readonly role: Role } | null;
  readonly memberships: readonly MembershipSummary[];
};

/** `ended`: the session has ended while its page is open. The page stays, and its requests wait until someone signs in. */
type SessionState = "loading" | "in" | "out" | "ended";

type Answer = Session | { readonly authenticated: false };

const current = signal<Session | undefined>(undefined);
const state = signal<SessionState>("loading");

/** The current session; undefined while it is unknown, and when no user is signed in. */
export const session: ReadonlySignal<Session | undefined> = current;

/** Whether a user is signed in, once that is known. */
export const sessionState: ReadonlySignal<SessionState> = state;

/** Asks the server who is signed in. @throws ApiError when it does not answer */
export async function loadSession(): Promise<Session | undefined> {
  return takeSession(await call<Answer>("/api/auth/session", { signsIn: true }));
}

/** Lets the page of a session that has ended wait for a sign-in. Returns whether there was one. */
export function endSession(): boolean {
  if (state.peek() === "in") {
    holdRequests();
    state.value = "ended";
  }
  return state.peek() === "ended";
}

/**
 * Takes the answer of a route that signs in or out. What was kept of another session is forgotten. After a session has ended, its page goes on
 * with the next one of the same user, and is loaded afresh for another user.
 */
export function takeSession(answer: Answer): Session | undefined {
  const next = "session" in answer ? answer : undefined;
  if (state.peek() === "ended") {
    if (next === undefined) return undefined;
    if (identityOf(next) !== identityOf(current.peek())) {
      location.reload();
      return undefined;
    }
    current.value = next;
    state.value = "in";
    releaseRequests();
    return next;
  }
  // Requests made while the page started belong to this session.
  const isFirst = state.peek() === "loading";
  if (!isFirst && next?.session.id !== current.peek()?.session.id) {
    forgetQueries();
    forgetProjectIds();
  }
  current.value = next;
  state.value = next === undefined ? "out" : "in";
  return next;
}

/** Returns who a session is of: a user or the rights of a key, in an organization. */
function identityOf(of: Session | undefined): string {
  const { user_id: userId, org_id: orgId, metadata } = of?.session ?? {};
  return JSON.stringify([orgId, userId ?? [metadata?.scopes?.toSorted(), metadata?.project_id]]);
}

/** Whether the signed-in user has a right; false while the user is unknown. Components that call it are drawn again when that changes. */
export function may(right: Right): boolean {
  const { value } = current;
  if (value === undefined) return false;
  return mayAs(right, { role: value.membership?.role, scopes: value.session.metadata.scopes ?? [] });
}

/** Whether runs, metrics, reports and the like may be changed. */
export const mayWrite = (): boolean => may("write");

/** Whether runs may be asked to stop. */
export const mayControl = (): boolean => may("control");

/** Whether there is a user, whose views and preferences can be stored. */
export const hasUser = (): boolean => (current.value?.user ?? null) !== null;

/** A right that a page may require of the signed-in user. */
export type Right = "write" | "aliases" | "control" | "delete" | "import" | "usage" | "keys" | "people";

const WRITERS = ["owner", "admin", "member"];
const MANAGERS = ["owner", "admin"];

/** By right, the roles of people that have it, and the scopes of keys that each suffice. Matches the route records of the API. */
const RIGHTS: Readonly<Record<Right, { readonly roles: readonly string[]; readonly scopes: readonly string[] }>> = {
  write: { roles: WRITERS, scopes: ["sdk:ingest"] },
  aliases: { roles: MANAGERS, scopes: ["artifacts:manage", "sdk:ingest"] },
  control: { roles: WRITERS, scopes: ["runs:control"] },
  delete: { roles: WRITERS, scopes: ["runs:control"] },
  import: { roles: WRITERS, scopes: ["imports:write", "sdk:ingest"] },
  usage: { roles: MANAGERS, scopes: ["usage:read", "export:read"] },
  keys: { roles: MANAGERS, scopes: ["api_keys:write"] },
  people: { roles: MANAGERS, scopes: [] },
};

/** Whether a role, or for sessions made from a key its scopes, have a right. A wrong answer is not a security risk: the server decides. */
export function mayAs(
  right: Right,
  { role, scopes }: { readonly role: string | undefined; readonly scopes: readonly string[] },
): boolean {
  const needed = RIGHTS[right];
  return role === undefined ? needed.scopes.some((scope) => scopes.includes(scope)) : needed.roles.includes(role);
}
