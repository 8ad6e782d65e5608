import { describe, expect, test } from "@jest/globals";
import type { RouteInput } from "../route.ts";
import {
  decodeCreateApiKey,
  decodeDisableServiceAccount,
  decodeListApiKeys,
  decodeRevokeApiKey,
} from "./control-api-keys.ts";
import { decodeConfirmDeviceLogin, decodePollDeviceLogin, decodeStartDeviceLogin } from "./control-device-login.ts";
import {
  decodeAcceptInvitation,
  decodeCreateInvitation,
  decodeListInvitations,
  decodePreviewInvitation,
  decodeResendInvitation,
  decodeRevokeInvitation,
} from "./control-invitations.ts";
import {
  decodeCheckOrganizationName,
  decodeCreateOrganization,
  decodeListOrganizations,
  decodeUpdateOrganization,
} from "./control-organizations.ts";
import { decodeCreateOwnOrganization } from "./control-own-organization.ts";
import { decodeAddSeat, decodeListSeats } from "./control-seats.ts";
import { decodeGetSession, decodeSignIn, decodeSignOut, decodeSwitchOrganization } from "./control-sessions.ts";
import { decodeCreateUser, decodeListUsers } from "./control-users.ts";
import { inputOf } from "./runs-input.fixture.ts";

type Body = RouteInput["body"];
const uuid = "3f0c7e9a-0000-4000-8000-000000000001";
const params = { org_id: "org" };
const tooLong = "x".repeat(513);

/** Bodies and what becomes of them, and bodies and the field that they are refused for. */
function describeBody(
  name: string,
  decode: (input: RouteInput) => object,
  read: readonly [string, Body, object][],
  refused: readonly [string, Body, string][],
): void {
  describe(`${name}`, () => {
    test.each(read)("reads %s", (_, body, message) => expect(decode(inputOf({ body }))).toEqual(message));
    test.each(refused)("refuses %s", (_, body, field) => {
      expect(() => decode(inputOf({ body }))).toThrow(expect.objectContaining({ reason: "bad_request", field }));
    });
  });
}

/** Like `describeBody` for routes with a row in their path: faults travel in the message. */
function describeRowBody(
  name: string,
  decode: (input: RouteInput) => object,
  read: readonly [string, Body, object][],
  faulty: readonly [string, Body, string][],
): void {
  describe(`${name}`, () => {
    test.each(read)("reads %s", (_, body, message) => {
      expect(decode(inputOf({ params, body }))).toEqual({ orgId: "org", bodyFault: undefined, ...message });
    });
    test.each(faulty)("sends on the fault of %s", (_, body, field) => {
      expect(decode(inputOf({ params, body }))).toMatchObject({
        orgId: "org",
        bodyFault: { field, text: expect.stringContaining(field) },
      });
    });
  });
}

const noUser = { displayName: "", avatarUrl: "" };
describeBody(
  "POST /api/users",
  decodeCreateUser,
  [
    ["an address", { email: " a@b.co " }, { email: "a@b.co", ...noUser }],
    ["an address by its other name", { primary_email: "a@b.co", email: null }, { email: "a@b.co", ...noUser }],
    [
      "everything, and what it does not know",
      { email: "a@b.co", display_name: "A", avatar_url: "http://x/y", provider: "p", email_verified: true },
      { email: "a@b.co", displayName: "A", avatarUrl: "http://x/y" },
    ],
    ["blank texts as absent", { email: "a@b.co", display_name: " " }, { email: "a@b.co", ...noUser }],
  ],
  [
    ["no address", {}, "primary_email"],
    ["an address that is no text", { email: 1 }, "email"],
    ["a name that is no text", { email: "a@b.co", display_name: [] }, "display_name"],
    ["a name beyond 512 bytes", { email: "a@b.co", display_name: tooLong }, "display_name"],
  ],
);

const noOrganization = { name: "", slug: "", planTier: "", ownerUserId: "" };
describeBody(
  "POST /api/orgs",
  decodeCreateOrganization,
  [
    ["nothing, which the service refuses", {}, noOrganization],
    [
      "everything but where data are kept",
      { name: " A ", slug: "a", plan_tier: "pro", owner_user_id: uuid.toUpperCase(), storage_choice: "hosted" },
      { name: "A", slug: "a", planTier: "pro", ownerUserId: uuid },
    ],
  ],
  [
    ["a name that is no text", { name: {} }, "name"],
    ["a name with NUL", { name: "a\0b" }, "name"],
    ["an owner that is no id", { name: "a", owner_user_id: "x" }, "owner_user_id"],
  ],
);

describeRowBody(
  "PATCH /api/orgs/{org_id}",
  decodeUpdateOrganization,
  [
    ["nothing, which the service refuses", {}, {}],
    ["nulls as absent", { plan_tier: null, billing_state: null }, {}],
    ["a plan", { plan_tier: "pro" }, { planTier: "pro" }],
    ["a state", { billing_state: "canceled" }, { billingState: "canceled" }],
  ],
  [
    ["a plan that is no text", { plan_tier: 1 }, "plan_tier"],
    ["a blank state", { billing_state: " " }, "billing_state"],
  ],
);

const noKey = { name: "", scopes: [], projectId: "", project: "", expiresAt: "", createdByUserId: "" };
describeRowBody(
  "POST /api/orgs/{org_id}/api-keys",
  decodeCreateApiKey,
  [
    ["nothing", {}, noKey],
    [
      "everything",
      {
        name: " ci ",
        scopes: [" export:read ", "export:read"],
        project_id: uuid,
        project: "demo",
        expires_at: "2030-01-02T03:04:05.6+01:00",
        created_by_user_id: uuid,
      },
      {
        name: "ci",
        scopes: ["export:read", "export:read"],
        projectId: uuid,
        project: "demo",
        expiresAt: "2030-01-02T02:04:05.6Z",
        createdByUserId: uuid,
      },
    ],
    ["nulls as absent", { name: null, scopes: null, project_id: null, expires_at: null }, noKey],
  ],
  [
    ["a name beyond 512 bytes", { name: tooLong }, "name"],
    ["scopes that are no list", { scopes: "export:read" }, "scopes"],
    ["no scope at all", { scopes: [] }, "scopes"],
    ["a scope that is no text", { scopes: [1] }, "scopes"],
    ["a project that is no id", { project_id: "demo" }, "project_id"],
    ["an end without a zone", { expires_at: "2030-01-02T03:04:05" }, "expires_at"],
    ["an end that is no text", { expires_at: 1 }, "expires_at"],
    ["a maker who is no id", { created_by_user_id: "me" }, "created_by_user_id"],
  ],
);

describeRowBody(
  "POST /api/orgs/{org_id}/seats",
  decodeAddSeat,
  [
    ["an address", { email: " a@b.co " }, { email: "a@b.co", role: "" }],
    ["an address and a role", { email: "a@b.co", role: "admin" }, { email: "a@b.co", role: "admin" }],
  ],
  [
    ["no address", {}, "email"],
    ["a role that is no text", { email: "a@b.co", role: 1 }, "role"],
  ],
);

const baseUrl = "http://127.0.0.1:8080";
describeRowBody(
  "POST /api/orgs/{org_id}/invitations",
  decodeCreateInvitation,
  [["an address and a role", { email: "a@b.co", role: "viewer" }, { email: "a@b.co", role: "viewer", baseUrl }]],
  [
    ["no address", { role: "viewer" }, "email"],
    ["a blank address", { email: " " }, "email"],
  ],
);

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
    ["no address", {}, "email"],
    ["seats that are no list", { email: "a@b.co", seat_emails: "c@d.co" }, "seat_emails"],
    ["an organization that is no id", { email: "a@b.co", accept_invite_org_id: "x" }, "accept_invite_org_id"],
  ],
);

describeBody(
  "POST /api/auth/switch-organization",
  decodeSwitchOrganization,
  [["an id", { org_id: uuid.toUpperCase() }, { orgId: uuid }]],
  [
    ["nothing", {}, "org_id"],
    ["what is no id", { org_id: "x" }, "org_id"],
  ],
);

const noOwn = { accountType: "", planTier: "", initialInvitations: [], switchOnCreate: true, baseUrl };
describeBody(
  "POST /api/orgs/current-user",
  decodeCreateOwnOrganization,
  [
    ["a name", { name: " A " }, { name: "A", ...noOwn }],
    [
      "everything",
      {
        name: "A",
        account_type: "personal",
        plan_tier: "free",
        initial_invitations: [{ email: "a@b.co", role: "viewer" }, { email: "c@d.co" }],
        switch_on_create: false,
      },
      {
        name: "A",
        accountType: "personal",
        planTier: "free",
        initialInvitations: [
          { email: "a@b.co", role: "viewer" },
          { email: "c@d.co", role: "" },
        ],
        switchOnCreate: false,
        baseUrl,
      },
    ],
  ],
  [
    ["no name", {}, "name"],
    ["invitations that are no list", { name: "A", initial_invitations: {} }, "initial_invitations"],
    ["an invitation that is no object", { name: "A", initial_invitations: ["a@b.co"] }, "initial_invitations"],
    ["an invitation to nobody", { name: "A", initial_invitations: [{}] }, "email"],
    ["a wish that is no truth value", { name: "A", switch_on_create: "yes" }, "switch_on_create"],
  ],
);

const noClient = { clientName: "", clientVersion: "", baseUrl };
describeBody(
  "POST /api/auth/device-code/start",
  decodeStartDeviceLogin,
  [
    ["nothing", {}, noClient],
    ["null", { client_info: null }, noClient],
    [
      "what the device is",
      { client_info: { name: "cli", version: "1" } },
      { ...noClient, clientName: "cli", clientVersion: "1" },
    ],
  ],
  [
    ["a device that is no object", { client_info: "cli" }, "client_info"],
    ["a device that is a list", { client_info: [] }, "client_info"],
    ["a name that is no text", { client_info: { name: 1 } }, "name"],
  ],
);

describeBody(
  "POST /api/auth/device-code/poll",
  decodePollDeviceLogin,
  [["a code", { device_code: " c " }, { deviceCode: "c" }]],
  [["nothing", {}, "device_code"]],
);
describeBody(
  "POST /api/auth/device-code/confirm",
  decodeConfirmDeviceLogin,
  [["a code", { user_code: "c" }, { userCode: "c" }]],
  [["nothing", {}, "user_code"]],
);
describeBody(
  "POST /api/invitations/preview",
  decodePreviewInvitation,
  [["a token", { token: "t" }, { token: "t" }]],
  [["nothing", {}, "token"]],
);
describeBody(
  "POST /api/invitations/accept",
  decodeAcceptInvitation,
  [["a token", { token: "t" }, { token: "t" }]],
  [["a token that is no text", { token: 1 }, "token"]],
);

describe("lists", () => {
  test.each([
    ["GET /api/users", decodeListUsers, 1000],
    ["GET /api/orgs", decodeListOrganizations, 1000],
    ["GET /api/orgs/{org_id}/api-keys", decodeListApiKeys, 1000],
    ["GET /api/orgs/{org_id}/seats", decodeListSeats, 1000],
    ["GET /api/orgs/{org_id}/invitations", decodeListInvitations, 200],
  ])("%s has pages of 100 unless told otherwise, and refuses others than 1 to %3$d", (_, decode, max) => {
    expect(decode(inputOf({ params }))).toMatchObject({ page: { limit: 100, offset: 0n } });
    const query = { limit: String(max), offset: "7" };
    expect(decode(inputOf({ params, query }))).toMatchObject({ page: { limit: max, offset: 7n } });
    const wrongs: Record<string, string>[] = [
      { limit: "0" },
      { limit: String(max + 1) },
      { limit: "x" },
      { offset: "-1" },
    ];
    for (const wrong of wrongs) {
      expect(() => decode(inputOf({ params, query: wrong }))).toThrow(
        expect.objectContaining({ reason: "bad_request" }),
      );
    }
  });
});

describe("what is in the path or the cookie", () => {
  test.each<[string, object, object]>([
    ["a key", decodeRevokeApiKey(inputOf({ params: { ...params, key_id: "k" } })), { orgId: "org", keyId: "k" }],
    [
      "a service account",
      decodeDisableServiceAccount(inputOf({ params: { ...params, service_account_id: "s" } })),
      { orgId: "org", serviceAccountId: "s" },
    ],
    [
      "an invitation to send again",
      decodeResendInvitation(inputOf({ params: { ...params, invitation_id: "i" } })),
      { orgId: "org", invitationId: "i", baseUrl },
    ],
    [
      "an invitation to take back",
      decodeRevokeInvitation(inputOf({ params: { ...params, invitation_id: "i" } })),
      { orgId: "org", invitationId: "i" },
    ],
    ["a session", decodeGetSession({ ...inputOf({}), sessionToken: "t" }), { token: "t" }],
    ["no session", decodeGetSession(inputOf({})), { token: "" }],
    ["a session to end", decodeSignOut({ ...inputOf({}), sessionToken: "t" }), { token: "t" }],
    ["a name to check", decodeCheckOrganizationName(inputOf({ query: { name: " A " } })), { name: "A" }],
  ])("is sent on: %s", (_, message, expected) => expect(message).toEqual(expected));

  test("a name to check must be there", () => {
    expect(() => decodeCheckOrganizationName(inputOf({}))).toThrow(expect.objectContaining({ field: "name" }));
  });
});
