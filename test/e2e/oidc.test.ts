import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { freePort } from "@tidemark/local";
import { sessionCookie, createTeam, newEmail, signIn } from "../stack/people.ts";
import { CLIENT, startIdentityProvider, type IdentityProvider } from "../stack/identity-provider.ts";
import { describeOwnModes } from "../stack/modes.ts";
import type { Stack } from "../stack/stack.ts";

// One file, because all cases share a stack in each mode.

const port = await freePort();

/** A browser that keeps every cookie. */
function createVisitor() {
  const cookies = new Map<string, string>();
  const go = async (url: string): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === "" || /max-age=0/i.test(line)) cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    return answer;
  };
  return { cookies, go };
}

type Visitor = ReturnType<typeof createVisitor>;

/** Follows the provider's redirects until it sends the browser back, and returns where to. */
async function throughProvider(visitor: Visitor, start: Response): Promise<string> {
  let url = start.headers.get("location")!;
  for (let hops = 0; hops < 10 && !url.includes("/api/auth/oidc/callback"); hops++) {
    const answer = await visitor.go(url);
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`the provider answered ${answer.status} ${await answer.text()}`);
    url = new URL(location, url).href;
  }
  return url;
}

/** Signs in at the provider and returns the last answer. */
async function visit(stack: Stack, query = "", visitor = createVisitor()) {
  const start = await visitor.go(`${stack.baseUrl}/api/auth/oidc/start${query}`);
  expect(start.status).toBe(303);
  const answer = await visitor.go(await throughProvider(visitor, start));
  const text = await answer.text();
  return { answer, visitor, start, json: text.startsWith("{") ? JSON.parse(text) : undefined, status: answer.status };
}

const newPerson = () => ({ sub: randomUUID(), email: newEmail(), email_verified: true, name: "Ada Lovelace" });

describeOwnModes(
  "signing in by OpenID Connect",
  (stack) => {
    let provider: IdentityProvider;
    beforeAll(async () => {
      provider = await startIdentityProvider(port, `${stack().baseUrl}/api/auth/oidc/callback`);
    });
    afterAll(() => provider.stop());

    test("opens a session of the person, who is the same one the next time, also under another address", async () => {
      const person = newPerson();
      provider.signedIn = person;
      const { status, json, answer, visitor, start } = await visit(stack());
      expect([status, json]).toEqual([
        200,
        expect.objectContaining({
          authenticated: true,
          user: expect.objectContaining({ primary_email: person.email, display_name: "Ada Lovelace" }),
          membership: expect.objectContaining({ role: "owner", status: "active" }),
        }),
      ]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      const asked = new URL(start.headers.get("location")!).searchParams;
      expect([asked.get("code_challenge_method"), asked.get("response_type"), asked.get("client_id")]).toEqual([
        "S256",
        "code",
        CLIENT.id,
      ]);
      expect(start.headers.getSetCookie()[0]).toMatch(/^tidemark_login=.+HttpOnly; SameSite=Lax; Max-Age=600/);
      expect([...visitor.cookies.keys()]).not.toContain("tidemark_login");
      const session = await (await visitor.go(`${stack().baseUrl}/api/auth/session`)).json();
      expect(session).toMatchObject({ authenticated: true, user: { id: json.user.id } });
      provider.signedIn = { ...person, email: newEmail() };
      const again = await visit(stack());
      expect(again.json.user).toMatchObject({ id: json.user.id, primary_email: person.email });
      expect(again.json.session.id).not.toBe(json.session.id);
    });

    test("continues to a path on this site, and nowhere else", async () => {
      provider.signedIn = newPerson();
      const { answer, visitor } = await visit(stack(), "?return_to=/settings/keys%3Fa=1");
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/settings/keys?a=1"]);
      expect(visitor.cookies.get(sessionCookie)).toBeDefined();
      for (const path of [
        "https://evil.test/",
        "//evil.test",
        "/\\evil.test",
        "settings",
        "/a\u0000b",
        `/${"x".repeat(2000)}`,
      ]) {
        const refused = await fetch(`${stack().baseUrl}/api/auth/oidc/start?return_to=${encodeURIComponent(path)}`, {
          redirect: "manual",
        });
        expect([path.slice(0, 20), refused.status]).toEqual([path.slice(0, 20), 400]);
      }
    });

    test("takes the seat that waits for the address, and finds the user that it belongs to", async () => {
      const team = await createTeam(stack());
      const person = newPerson();
      const seat = await team.owner.browser.post(`/api/orgs/${team.orgId}/seats`, {
        email: person.email,
        role: "member",
      });
      expect(seat.status).toBe(200);
      provider.signedIn = person;
      const { json } = await visit(stack());
      expect([json.organization.id, json.membership.role]).toEqual([team.orgId, "member"]);
      const known = await signIn(stack());
      provider.signedIn = { ...newPerson(), email: known.email };
      expect((await visit(stack())).json.user.id).toBe(known.userId);
      const named = newPerson();
      const other = await createTeam(stack());
      for (const { owner, orgId } of [team, other])
        await owner.browser.post(`/api/orgs/${orgId}/seats`, { email: named.email, role: "viewer" });
      provider.signedIn = named;
      expect((await visit(stack())).status).toBe(409);
      const chosen = await visit(stack(), `?accept_invite_org_id=${other.orgId}`);
      expect(chosen.json.organization.id).toBe(other.orgId);
    });

    test("refuses a person whose address was not verified, is of another domain, or belongs to another person there", async () => {
      const person = newPerson();
      provider.signedIn = person;
      expect((await visit(stack())).status).toBe(200);
      for (const account of [
        { ...newPerson(), email_verified: false },
        { ...newPerson(), email_verified: undefined },
        { ...newPerson(), email: undefined },
        { ...newPerson(), email: "a@elsewhere.test" },
        { ...newPerson(), email: "no address" },
        { ...newPerson(), email: person.email },
      ]) {
        provider.signedIn = account;
        const { status, visitor, json } = await visit(stack());
        expect([account.email, status, json.error]).toEqual([account.email, 403, expect.anything()]);
        expect(visitor.cookies.has(sessionCookie)).toBe(false);
      }
    });

    test("is not completed without the browser that began it, with another state, twice, or when the person refuses", async () => {
      provider.signedIn = newPerson();
      const victim = createVisitor();
      const start = await victim.go(`${stack().baseUrl}/api/auth/oidc/start`);
      const back = await throughProvider(victim, start);
      expect((await createVisitor().go(back)).status).toBe(401);
      const other = createVisitor();
      await other.go(`${stack().baseUrl}/api/auth/oidc/start`);
      expect((await other.go(back)).status).toBe(401);
      const forged = new URL(back);
      forged.searchParams.set("code", "forged");
      const [login] = [victim.cookies.get("tidemark_login")!];
      expect((await victim.go(forged.href)).status).toBe(401);
      victim.cookies.set("tidemark_login", login);
      expect((await victim.go(back)).status).toBe(200);
      victim.cookies.set("tidemark_login", login);
      expect((await victim.go(back)).status).toBe(401);
      for (const cookie of [
        "x",
        Buffer.from("[1,2,3,4,5]").toString("base64url"),
        Buffer.from("[]").toString("base64url"),
      ]) {
        victim.cookies.set("tidemark_login", cookie);
        expect((await victim.go(back)).status).toBe(401);
      }
      provider.signedIn = "nobody";
      const refused = await visit(stack());
      expect([refused.status, refused.visitor.cookies.has(sessionCookie)]).toEqual([401, false]);
    });

    test("is announced to pages, and asks to retry while the provider does not answer", async () => {
      expect((await stack().api.get("/api/auth/config")).json).toMatchObject({
        oidc_enabled: true,
        dev_auth_enabled: true,
      });
      provider.signedIn = newPerson();
      const visitor = createVisitor();
      const back = await throughProvider(visitor, await visitor.go(`${stack().baseUrl}/api/auth/oidc/start`));
      await provider.stop();
      const answer = await visitor.go(back);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
      provider = await startIdentityProvider(port, `${stack().baseUrl}/api/auth/oidc/callback`);
      provider.signedIn = newPerson();
      expect((await visit(stack())).status).toBe(200);
    });
  },
  {
    settings: {
      TIDEMARK_OIDC_ISSUER: `http://127.0.0.1:${port}`,
      TIDEMARK_OIDC_CLIENT_ID: CLIENT.id,
      TIDEMARK_OIDC_CLIENT_SECRET: CLIENT.secret,
      TIDEMARK_OIDC_DOMAINS: "Example.test",
    },
  },
);

describeOwnModes("an installation without a provider", (stack) => {
  test("says so", async () => {
    expect((await stack().api.get("/api/auth/config")).json).toMatchObject({ oidc_enabled: false });
    expect((await stack().api.get("/api/auth/oidc/start")).status).toBe(401);
    expect((await stack().api.get("/api/auth/oidc/callback?code=a&state=b")).status).toBe(401);
  });
});
