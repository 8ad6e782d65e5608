import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { issueCredential } from "@tidemark/credentials";
import { AppError } from "@tidemark/errors";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import {
  CredentialEntrySchema,
  CredentialKind,
  LookupCredentialResponseSchema,
  OrganizationEntrySchema,
  type CredentialEntry,
  type LookupCredentialResponse,
  type OrganizationEntry,
} from "@tidemark/proto/control/v1/control";
import { checkKind, checkRights, type Callers } from "./callers.ts";
import { createAccess, createDirectory } from "./directory.ts";
import { bootstrapTokenOf, createAuthenticator, createOperatorCheck, presentedBy, cookieOf } from "./authenticator.ts";

// One file, because all cases share a projection and its clock.

const nowMs = Date.parse("2026-01-02T03:04:05Z");

function reasonOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

const organization = (more: Partial<OrganizationEntry> = {}): OrganizationEntry =>
  create(OrganizationEntrySchema, { id: "org-1", planTier: "pro", billingState: "paid_active", ...(more as object) });

function key(more: Partial<CredentialEntry> = {}): { text: string; entry: CredentialEntry } {
  const { text, id, hash } = issueCredential("api_key", randomBytes);
  return {
    text,
    entry: create(CredentialEntrySchema, {
      kind: CredentialKind.API_KEY,
      id,
      hash,
      orgId: "org-1",
      scopes: ["sdk:ingest"],
      ...(more as object),
    }),
  };
}

describe("the credentials of a request", () => {
  test.each([
    ["nothing", {}, { kind: "none" }],
    ["a blank Authorization", { authorization: " " }, { kind: "none" }],
    ["a bearer token", { authorization: "Bearer abc" }, { kind: "bearer", token: "abc" }],
    ["the scheme in small letters", { authorization: "bearer  abc " }, { kind: "bearer", token: "abc" }],
    [
      "Authorization before the cookie",
      { authorization: "Bearer a", cookie: "tidemark_session=b" },
      { kind: "bearer", token: "a" },
    ],
    [
      "another scheme, even with a cookie",
      { authorization: "Basic a", cookie: "tidemark_session=b" },
      { kind: "unknown_scheme" },
    ],
    ["Bearer without a token", { authorization: "Bearer" }, { kind: "unknown_scheme" }],
    ["the session cookie among others", { cookie: "a=1; tidemark_session=b; c=2" }, { kind: "cookie", token: "b" }],
    ["other cookies only", { cookie: "tidemark_sessions=b; a" }, { kind: "none" }],
  ])("%s", (_, headers, expected) => expect(presentedBy(headers, "tidemark_session")).toEqual(expected));

  test("an empty session cookie counts as absent", () =>
    expect(cookieOf("tidemark_session=", "tidemark_session")).toBeUndefined());

  test("over TLS only the cookie counts that no neighbor can plant", () => {
    const cookie = "tidemark_session=planted; __Host-tidemark_session=own";
    expect(presentedBy({ cookie }, "__Host-tidemark_session")).toEqual({ kind: "cookie", token: "own" });
    expect(presentedBy({ cookie: "tidemark_session=planted" }, "__Host-tidemark_session")).toEqual({ kind: "none" });
  });

  test.each([
    ["its own name", { "x-svc-bootstrap-token": "t" }, "t"],
    ["the SDK's name", { "x-instantml-bootstrap-token": "t" }, "t"],
    ["no header", {}, undefined],
  ])("the operator's token under %s", (_, headers, expected) => expect(bootstrapTokenOf(headers)).toBe(expected));
});

test.each([
  ["the right token", "secret-of-operators", "secret-of-operators", "accepted"],
  ["a wrong token", "secret-of-operators", "secret-of-operatorz", "unauthenticated: invalid bootstrap token"],
  ["no token", "secret-of-operators", undefined, "unauthenticated: invalid bootstrap token"],
  ["an installation without a token", undefined, "x", "unauthenticated: invalid bootstrap token"],
  ["neither", undefined, undefined, "unauthenticated: invalid bootstrap token"],
])("operators: %s", (_, configured, sent, expected) => {
  expect(reasonOf(() => createOperatorCheck(configured)(sent))).toBe(expected);
});

describe("rights", () => {
  const callers: Extract<Callers, { kind: "credentials" }> = {
    kind: "credentials",
    key: { scopes: ["artifacts:write", "sdk:ingest"] },
    session: { roles: ["owner", "admin"] },
  };
  const keyOf = (...scopes: string[]): Identity => create(IdentitySchema, { kind: CallerKind.API_KEY, scopes });
  const sessionOf = (role: string): Identity => create(IdentitySchema, { kind: CallerKind.SESSION, role });

  test.each([
    ["one of the scopes is enough", keyOf("sdk:ingest"), "accepted"],
    ["no scope", keyOf(), "forbidden: api key requires artifacts:write or sdk:ingest"],
    ["another scope", keyOf("export:read"), "forbidden: api key requires artifacts:write or sdk:ingest"],
    ["one of the roles", sessionOf("admin"), "accepted"],
    ["another role", sessionOf("member"), "forbidden: session requires the role owner or admin"],
    ["no role", sessionOf(""), "forbidden: session requires the role owner or admin"],
    ["an operator", create(IdentitySchema, { kind: CallerKind.OPERATOR }), "accepted"],
  ])("%s", (_, identity, expected) => expect(reasonOf(() => checkRights(callers, identity))).toBe(expected));

  test.each([
    ["both scopes", keyOf("export:read", "sdk:ingest"), "accepted"],
    ["one of them", keyOf("sdk:ingest"), "forbidden: api key requires export:read"],
    ["the other", keyOf("export:read"), "forbidden: api key requires sdk:ingest"],
    ["none", keyOf("runs:control"), "forbidden: api key requires export:read and sdk:ingest"],
    ["a session with a role", sessionOf("owner"), "accepted"],
  ])("where all scopes are needed: %s", (_, identity, expected) => {
    const both = { ...callers, key: { allScopes: ["export:read", "sdk:ingest"] } } as const;
    expect(reasonOf(() => checkRights(both, identity))).toBe(expected);
  });

  test("an empty list of scopes takes any key", () => {
    expect(reasonOf(() => checkRights({ ...callers, key: { scopes: [] } }, keyOf()))).toBe("accepted");
  });

  test.each([
    [
      "a key where only sessions are accepted",
      { ...callers, key: { refused: 401 } },
      CallerKind.API_KEY,
      "unauthenticated: this route needs a signed-in session",
    ],
    [
      "a session where only keys are accepted",
      { ...callers, session: { refused: 403 } },
      CallerKind.SESSION,
      "forbidden: this route needs an api key",
    ],
    [
      "a session that is refused with 401",
      { ...callers, session: { refused: 401 } },
      CallerKind.SESSION,
      "unauthenticated: this route needs an api key",
    ],
    ["a key where keys are accepted", callers, CallerKind.API_KEY, "accepted"],
  ] as [string, typeof callers, CallerKind, string][])("%s", (_, route, kind, expected) => {
    const presented = kind === CallerKind.SESSION ? "session" : "api_key";
    expect(reasonOf(() => checkKind(route, { ...keyOf(), kind }, presented))).toBe(expected);
  });

  test.each([
    ["both kinds are accepted", callers, "accepted"],
    [
      "only users are accepted",
      { ...callers, key: { refused: 401 } },
      "forbidden: this route needs the session of a user",
    ],
    [
      "only keys are accepted",
      { ...callers, session: { refused: 401 } },
      "unauthenticated: this route needs an api key",
    ],
  ] as [string, typeof callers, string][])("a session of a key where %s", (_, route, expected) => {
    expect(reasonOf(() => checkKind(route, keyOf(), "session"))).toBe(expected);
  });
});

describe("the directory", () => {
  const find = (directory: ReturnType<typeof createDirectory>, { entry }: { entry: CredentialEntry }) =>
    directory.find(CredentialKind.API_KEY, entry.id);

  test("a credential without its organization is not known yet", () => {
    const directory = createDirectory();
    const known = key();
    directory.put({ organizations: [], credentials: [known.entry] });
    expect(find(directory, known)).toBeUndefined();
    directory.put({ organizations: [organization()], credentials: [] });
    expect(find(directory, known)?.organization.planTier).toBe("pro");
  });

  test("a session and a key of one id are two credentials", () => {
    const directory = createDirectory();
    const known = key();
    directory.put({ organizations: [organization()], credentials: [known.entry] });
    expect(directory.find(CredentialKind.SESSION, known.entry.id)).toBeUndefined();
  });

  test("a later page replaces, the answer to a look-up does not", () => {
    const directory = createDirectory();
    const known = key();
    const revoked = { ...known.entry, revoked: true };
    directory.put({ organizations: [organization()], credentials: [known.entry] });
    directory.put({ organizations: [], credentials: [revoked] });
    directory.putMissing({ organizations: [organization({ planTier: "free" })], credentials: [known.entry] });
    expect(find(directory, known)).toMatchObject({ entry: { revoked: true }, organization: { planTier: "pro" } });
  });

  test("a snapshot keeps its entries and those looked up in the meantime, and drops the rest", () => {
    const directory = createDirectory();
    const [old, kept, looked] = [key(), key(), key()];
    directory.put({ organizations: [organization()], credentials: [old.entry, kept.entry] });
    directory.beginSnapshot();
    directory.put({ organizations: [organization()], credentials: [kept.entry] });
    directory.putMissing({ organizations: [], credentials: [looked.entry] });
    expect([old, kept, looked].map((one) => find(directory, one) !== undefined)).toEqual([true, true, true]);
    directory.endSnapshot();
    expect([old, kept, looked].map((one) => find(directory, one) !== undefined)).toEqual([false, true, true]);
  });

  test("forgets what ended ten minutes ago, some entries at a time, and nothing that works", () => {
    const directory = createDirectory();
    const MINUTE_MS = 60_000;
    const [live, revoked, expired, expiring] = [
      key(),
      key({ revoked: true }),
      key({ expiresAt: new Date(nowMs - 1).toISOString() }),
      key({ expiresAt: new Date(nowMs + 5 * MINUTE_MS).toISOString() }),
    ];
    const all = [live, revoked, expired, expiring];
    directory.put({ organizations: [organization()], credentials: all.map(({ entry }) => entry) });
    const known = () => all.map((one) => find(directory, one) !== undefined);
    const walk = (minutes: number) => {
      // Two walks over four entries; the end of a walk is a step of its own.
      for (let i = 0; i < 3; i++) directory.forgetEnded(nowMs + minutes * MINUTE_MS, 2);
    };
    walk(0);
    walk(9);
    expect(known()).toEqual([true, true, true, true]);
    walk(10);
    expect(known()).toEqual([true, false, false, true]);
    walk(18);
    expect(known()).toEqual([true, false, false, true]);
    walk(20);
    expect(known()).toEqual([true, false, false, false]);
    directory.putMissing({ organizations: [], credentials: [revoked.entry] });
    expect(find(directory, revoked)?.entry.revoked).toBe(true);
  });

  test("ending a snapshot that never began changes nothing", () => {
    const directory = createDirectory();
    const known = key();
    directory.put({ organizations: [organization()], credentials: [known.entry] });
    directory.endSnapshot();
    expect(find(directory, known)).toBeDefined();
  });
});

describe("authentication", () => {
  const setUp = (entries: readonly CredentialEntry[], org = organization()) => {
    const directory = createDirectory();
    directory.put({ organizations: [org], credentials: entries });
    const used: string[] = [];
    const access = createAccess({
      directory,
      fresh: () => true,
      ask: () => Promise.resolve(create(LookupCredentialResponseSchema)),
      nowMs: () => nowMs,
    });
    const authenticator = createAuthenticator({ access, used: ({ id }) => void used.push(id), nowMs: () => nowMs });
    const identify = (text: string): Identity | undefined => authenticator.known(authenticator.read("api_key", text));
    return { directory, authenticator, identify, used };
  };

  test("the holder of a key", () => {
    const known = key({ projectId: "project-1" });
    const { identify, used } = setUp([known.entry]);
    expect(identify(known.text)).toMatchObject({
      orgId: "org-1",
      kind: CallerKind.API_KEY,
      credentialId: known.entry.id,
      scopes: ["sdk:ingest"],
      projectId: "project-1",
      planTier: "pro",
      billingState: "paid_active",
    });
    expect(used).toEqual([known.entry.id]);
  });

  test("the holder of a session", () => {
    const { text, id, hash } = issueCredential("session", randomBytes);
    const { authenticator } = setUp([
      create(CredentialEntrySchema, {
        kind: CredentialKind.SESSION,
        id,
        hash,
        orgId: "org-1",
        userId: "user-1",
        role: "admin",
      }),
    ]);
    expect(authenticator.known(authenticator.read("session", text))).toMatchObject({
      kind: CallerKind.SESSION,
      userId: "user-1",
      role: "admin",
    });
  });

  test("one identity serves many requests until the organization changes", () => {
    const known = key();
    const { identify, directory } = setUp([known.entry]);
    const first = identify(known.text);
    expect(identify(known.text)).toBe(first);
    directory.put({ organizations: [organization({ planTier: "free" })], credentials: [] });
    expect(identify(known.text)?.planTier).toBe("free");
  });

  test.each<[string, Partial<CredentialEntry>, Partial<OrganizationEntry>, string]>([
    ["revoked", { revoked: true }, {}, "unauthenticated: invalid or expired credentials"],
    [
      "expired a moment ago",
      { expiresAt: "2026-01-02T03:04:05Z" },
      {},
      "unauthenticated: invalid or expired credentials",
    ],
    ["with a second left", { expiresAt: "2026-01-02T03:04:06.000001Z" }, {}, "accepted"],
    ["with another secret", { hash: new Uint8Array(32) }, {}, "unauthenticated: invalid or expired credentials"],
    ["without a stored hash", { hash: new Uint8Array() }, {}, "unauthenticated: invalid or expired credentials"],
    ["of a deleted organization", {}, { deleted: true }, "unauthenticated: invalid or expired credentials"],
  ])("a key that is %s", (_, entry, org, expected) => {
    const known = key(entry);
    const { identify } = setUp([known.entry], organization(org));
    expect(reasonOf(() => identify(known.text))).toBe(expected);
  });

  test.each([
    ["a session as a key", issueCredential("session", randomBytes).text],
    ["a share token as a key", issueCredential("share", randomBytes).text],
    ["a key with a wrong checksum", `${key().text.slice(0, -1)}_`],
    ["any text", "local"],
  ])("refused without a look-up: %s", (_, text) => {
    const { authenticator } = setUp([]);
    expect(reasonOf(() => authenticator.read("api_key", text))).toBe("unauthenticated: invalid or expired credentials");
  });

  test("a key that memory does not know is left to a look-up", () => {
    expect(setUp([]).identify(key().text)).toBeUndefined();
  });
});

describe("look-ups", () => {
  const setUp = (answers: (() => Promise<LookupCredentialResponse>)[]) => {
    const directory = createDirectory();
    const clock = { ms: 0 };
    let fresh = true;
    let asked = 0;
    const access = createAccess({
      directory,
      fresh: () => fresh,
      ask: () => {
        asked += 1;
        return (answers.shift() ?? (() => Promise.reject(new Error("not asked again"))))();
      },
      nowMs: () => clock.ms,
    });
    return { directory, access, clock, asked: () => asked, age: () => (fresh = false) };
  };
  const found = (known: { entry: CredentialEntry }) => () =>
    Promise.resolve(create(LookupCredentialResponseSchema, { entry: known.entry, organization: organization() }));
  const missing = () => Promise.resolve(create(LookupCredentialResponseSchema));

  test("a found credential is known from then on", async () => {
    const known = key();
    const { access } = setUp([found(known)]);
    expect((await access.lookUp(CredentialKind.API_KEY, known.entry.id))?.entry.id).toBe(known.entry.id);
    expect(access.known(CredentialKind.API_KEY, known.entry.id)?.organization.id).toBe("org-1");
  });

  test("many simultaneous requests with one credential cost one question", async () => {
    const known = key();
    const { access, asked } = setUp([found(known)]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => access.lookUp(CredentialKind.API_KEY, known.entry.id)),
    );
    expect(answers.every((answer) => answer?.entry.id === known.entry.id)).toBe(true);
    expect(asked()).toBe(1);
  });

  test("a credential that does not exist is not looked up again within a second", async () => {
    const known = key();
    const { access, clock, asked } = setUp([missing, found(known)]);
    expect(await access.lookUp(CredentialKind.API_KEY, known.entry.id)).toBeUndefined();
    clock.ms = 999;
    expect(await access.lookUp(CredentialKind.API_KEY, known.entry.id)).toBeUndefined();
    expect(asked()).toBe(1);
    clock.ms = 1000;
    expect(await access.lookUp(CredentialKind.API_KEY, known.entry.id)).toBeDefined();
  });

  test("a question that fails is unavailability, and is asked again the next time", async () => {
    const known = key();
    const { access } = setUp([() => Promise.reject(new Error("refused")), found(known)]);
    await expect(access.lookUp(CredentialKind.API_KEY, known.entry.id)).rejects.toMatchObject({
      reason: "service_unavailable",
      retryAfterSeconds: 1,
    });
    expect(await access.lookUp(CredentialKind.API_KEY, known.entry.id)).toBeDefined();
  });

  test("memory that is too old is not believed", () => {
    const known = key();
    const { access, directory, age } = setUp([]);
    directory.put({ organizations: [organization()], credentials: [known.entry] });
    expect(access.known(CredentialKind.API_KEY, known.entry.id)).toBeDefined();
    age();
    expect(access.known(CredentialKind.API_KEY, known.entry.id)).toBeUndefined();
  });
});
