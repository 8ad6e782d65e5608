import { randomUUID } from "node:crypto";
import { type Answer, type CallOptions, createApi } from "./client.ts";
import type { Stack } from "./stack.ts";

/** A signed-in user. */
export type Person = { browser: Browser; email: string; userId: string; orgId: string };

/** A role in an organization. */
export type Role = "owner" | "admin" | "member" | "viewer";

/** An organization with an owner who is signed in. */
export type Team = {
  orgId: string;
  name: string;
  owner: Person;
  /** Returns a new user who was invited, signed in, accepted, and is now in this organization. */
  join(role: Exclude<Role, "owner">): Promise<Person>;
};

const fine = (what: string, answer: Answer): Answer => {
  if (answer.status !== 200) throw new Error(`${what}: ${answer.status} ${answer.text}`);
  return answer;
};

/** Returns an unused email address. */
export function newEmail(): string {
  return `person-${randomUUID().slice(0, 13)}@example.test`;
}

/** A name that no organization has yet; it is its own slug. */
export function newName(): string {
  return `team-${randomUUID().slice(0, 13)}`;
}

/** Returns the call options of the installation's operator. */
export function asOperator(stack: Stack): CallOptions {
  return { key: null, headers: { "x-svc-bootstrap-token": stack.bootstrapToken } };
}

/** Signs a user in for development. Without other fields the user gets a new organization. */
export async function signIn(stack: Stack, wish: Record<string, unknown> = {}): Promise<Person> {
  const browser = openBrowser(stack.baseUrl);
  const email = (wish["email"] as string | undefined) ?? newEmail();
  const { json } = fine("no sign-in", await browser.post("/api/auth/dev/google", { ...wish, email }));
  return { browser, email, userId: json.user.id, orgId: json.organization.id };
}

/** The token in the link that an inviting person is shown. */
export function inviteTokenIn(answer: Answer): string {
  const token = /tm_invite_\w+/.exec(String(answer.json?.preview_link))?.[0];
  if (token === undefined) throw new Error(`no invitation token: ${answer.status} ${answer.text}`);
  return token;
}

/** Makes an organization of the plan, and signs its owner in. */
export async function createTeam(stack: Stack, plan = "premium"): Promise<Team> {
  const name = newName();
  const email = newEmail();
  const user = fine("no user", await stack.api.post("/api/users", { email }, asOperator(stack))).json.user;
  const wish = { slug: name, name, plan_tier: plan, owner_user_id: user.id };
  const orgId: string = fine("no team", await stack.api.post("/api/orgs", wish, asOperator(stack))).json.organization
    .id;
  const owner = await signIn(stack, { email });
  return {
    orgId,
    name,
    owner,
    async join(role) {
      const person = await signIn(stack);
      const invited = await owner.browser.post(`/api/orgs/${orgId}/invitations`, { email: person.email, role });
      const token = inviteTokenIn(fine("no invitation", invited));
      fine("not accepted", await person.browser.post("/api/invitations/accept", { token }));
      return { ...person, orgId };
    },
  };
}

/** Revokes all API keys of an organization. */
export async function revokeKeys(stack: Stack, orgId: string): Promise<void> {
  const path = `/api/orgs/${orgId}/api-keys`;
  const { api_keys: keys } = (await stack.api.get(path, asOperator(stack))).json as { api_keys: { id: string }[] };
  for (const { id } of keys) {
    fine("not revoked", await stack.api.post(`${path}/${id}/revoke`, {}, asOperator(stack)));
  }
}

/** A person's browser with one of our pages open: keeps the session cookie, and names its origin with every change. */
export type Browser = {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  patch(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** The session token in its cookie jar; undefined when it is signed out. */
  token(): string | undefined;
};

/** The name of the session cookie. */
export const sessionCookie = "tidemark_session";

/** All `Set-Cookie` lines of an answer. */
export function cookiesSetBy(answer: Answer): string[] {
  return [answer.headers["set-cookie"] ?? []].flat();
}

/** Opens a browser with an empty cookie jar. */
export function openBrowser(baseUrl: string): Browser {
  const api = createApi(baseUrl);
  let token: string | undefined;

  const keepCookie = (answer: Answer): void => {
    for (const line of cookiesSetBy(answer)) {
      const [pair = "", ...attributes] = line.split(/;\s*/);
      if (!pair.startsWith(`${sessionCookie}=`)) continue;
      const value = pair.slice(sessionCookie.length + 1);
      const gone = value === "" || attributes.some((attribute) => /^max-age=0$/i.test(attribute));
      token = gone ? undefined : value;
    }
  };
  const call: Browser["call"] = async (method, path, options = {}) => {
    const headers = {
      ...(token === undefined ? {} : { cookie: `${sessionCookie}=${token}` }),
      ...(method === "GET" ? {} : { origin: baseUrl, "sec-fetch-site": "same-origin" }),
      ...options.headers,
    };
    const answer = await api.call(method, path, { ...options, headers });
    keepCookie(answer);
    return answer;
  };
  return {
    call,
    get: (path, options) => call("GET", path, options),
    post: (path, body = {}, options = {}) => call("POST", path, { ...options, body }),
    patch: (path, body = {}, options = {}) => call("PATCH", path, { ...options, body }),
    token: () => token,
  };
}
