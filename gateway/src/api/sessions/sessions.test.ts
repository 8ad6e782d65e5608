import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import {
  FinishOidcLoginResponseSchema,
  GetAuthConfigResponseSchema,
  GetSessionResponseSchema,
  SwitchOrganizationResponseSchema,
} from "@tidemark/proto/control/v1/control";
import { at, id, view } from "../accounts.fixture.ts";
import { describeBody, inputOf } from "../route-input.fixture.ts";
import { bodyOf } from "../response-schema.fixture.ts";
import { encodeFinishOidc } from "./oidc.ts";
import {
  decodeGetSession,
  decodeSignIn,
  decodeSignOut,
  decodeSwitchOrganization,
  encodeAuthConfig,
  encodeGetSession,
  encodeNewSession,
  encodeSignOut,
} from "./sessions.ts";

const uuid = "3f0c7e9a-0000-4000-8000-000000000001";

const noSignIn = {
  displayName: "",
  mode: "",
  accountType: "",
  orgName: "",
  planTier: "",
  seatEmails: [],
  acceptInviteOrgId: "",
  acceptInviteToken: "",
};
describeBody(
  "POST /api/auth/dev/google",
  decodeSignIn,
  [
    ["an address", { email: "a@b.co" }, { email: "a@b.co", ...noSignIn }],
    [
      "everything",
      {
        email: "a@b.co",
        display_name: "A",
        mode: "signup",
        account_type: "business",
        org_name: "Acme",
        plan_tier: "free",
        storage_choice: "hosted",
        seat_emails: ["c@d.co"],
        accept_invite_org_id: uuid,
        accept_invite_token: "t",
      },
      {
        email: "a@b.co",
        displayName: "A",
        mode: "signup",
        accountType: "business",
        orgName: "Acme",
        planTier: "free",
        seatEmails: ["c@d.co"],
        acceptInviteOrgId: uuid,
        acceptInviteToken: "t",
      },
    ],
  ],
  [
    ["seats that are not a list", { email: "a@b.co", seat_emails: "c@d.co" }, "seat_emails"],
    ["an organization that is not an id", { email: "a@b.co", accept_invite_org_id: "x" }, "accept_invite_org_id"],
  ],
);

describeBody(
  "POST /api/auth/switch-organization",
  decodeSwitchOrganization,
  [["an id", { org_id: uuid.toUpperCase() }, { orgId: uuid }]],
  [
    ["nothing", {}, "org_id"],
    ["what is not an id", { org_id: "x" }, "org_id"],
  ],
);

test.each<[string, object, object]>([
  ["a session", decodeGetSession({ ...inputOf({}), sessionToken: "t" }), { token: "t" }],
  ["no session", decodeGetSession(inputOf({})), { token: "" }],
  ["a session to end", decodeSignOut({ ...inputOf({}), sessionToken: "t" }), { token: "t" }],
])("%s is sent on", (_, message, expected) => expect(message).toEqual(expected));

describe("a session", () => {
  test("is shown with its user, organization and memberships", () => {
    const reply = encodeGetSession(create(GetSessionResponseSchema, { view }));
    expect(reply.headers).toEqual({ "cache-control": "no-store" });
    expect(bodyOf(reply, "GET /api/auth/session")).toMatchObject({
      authenticated: true,
      session: { id, metadata: {}, last_seen_at: null, expires_at: at, revoked_at: null },
      user: { primary_email: "a@b.co", display_name: null, avatar_url: null, last_seen_at: null },
      organization: { slug: "acme", storage_choice: "hosted", created_by_user_id: null },
      membership: { role: "owner" },
      memberships: [{ slug: "acme", member_count: 1, is_current: true }],
      account_type: "business",
      provisioning: { status: "ready", mode: "database", service_id: null },
    });
  });

  test("that does not exist is not an error", () => {
    const reply = encodeGetSession(create(GetSessionResponseSchema));
    expect(bodyOf(reply, "GET /api/auth/session")).toEqual({ authenticated: false });
  });

  const cookie = "tidemark_session=t; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000";
  test.each([
    ["over http on this machine", "http://127.0.0.1:8080", false, cookie],
    ["over http elsewhere", "http://tidemark.test", true, `${cookie}; Secure`],
    ["over TLS, for this host alone", "https://tidemark.test", true, `__Host-${cookie}; Secure`],
    [
      "below a path, for that path alone",
      "https://tidemark.test/lab",
      true,
      `__Secure-${cookie.replace("Path=/", "Path=/lab")}; Secure`,
    ],
  ])("that is new sets its cookie, %s", (_, baseUrl, cookieSecure, expected) => {
    const response = create(SwitchOrganizationResponseSchema, {
      created: { view, token: "t", maxAgeSeconds: 2_592_000 },
    });
    const { headers } = encodeNewSession(response, undefined, { ...inputOf({}), baseUrl, cookieSecure });
    expect(headers).toEqual({ "cache-control": "no-store", "set-cookie": expected });
  });

  test("that begins at an identity provider goes on below the path of the server", () => {
    const created = { view, token: "t", maxAgeSeconds: 60 };
    const response = create(FinishOidcLoginResponseSchema, { created, returnTo: "/p/a" });
    for (const [baseUrl, redirect] of [
      ["https://tidemark.test", "/p/a"],
      ["https://tidemark.test/lab", "/lab/p/a"],
    ] as const) {
      expect(encodeFinishOidc(response, undefined, { ...inputOf({}), baseUrl }).redirect).toBe(redirect);
    }
  });

  test("can be opened by an address alone on this machine only, regardless of the settings", () => {
    const config = create(GetAuthConfigResponseSchema, { devAuthEnabled: true, oidcEnabled: true });
    for (const isFromThisMachine of [true, false]) {
      const { body } = encodeAuthConfig(config, undefined, inputOf({ isFromThisMachine }));
      expect(body).toMatchObject({ dev_auth_enabled: isFromThisMachine, oidc_enabled: true });
    }
  });

  test("that stays sets no cookie", () => {
    const response = create(SwitchOrganizationResponseSchema, { created: { view } });
    expect(encodeNewSession(response, undefined, inputOf({})).headers).toEqual({ "cache-control": "no-store" });
  });

  test("that ends takes its cookie with it", () => {
    const { body, headers } = encodeSignOut({}, undefined, inputOf({}));
    expect(body).toEqual({ authenticated: false });
    expect(headers?.["set-cookie"]).toBe("tidemark_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
  });
});
