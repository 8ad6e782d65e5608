import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import {
  CreateApiKeyResponseSchema,
  CreateOwnOrganizationResponseSchema,
  GetSessionResponseSchema,
  ListInvitationsResponseSchema,
  ListSeatsResponseSchema,
  PollDeviceLoginResponseSchema,
  StartDeviceLoginResponseSchema,
  SwitchOrganizationResponseSchema,
  type ApiKeySchema,
  type InvitationSchema,
  type MembershipSchema,
  type OrganizationSchema,
  type SessionViewSchema,
  type UserSchema,
} from "@tidemark/proto/control/v1/control";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { encodeCreateApiKey } from "./control-api-keys.ts";
import { encodePollDeviceLogin, encodeStartDeviceLogin } from "./control-device-login.ts";
import { encodeListInvitations } from "./control-invitations.ts";
import { encodeCreateOwnOrganization } from "./control-own-organization.ts";
import {
  maybeSessionSchema,
  newApiKeySchema,
  objectSchema,
  listSchema,
  seatSchema,
  sentInvitationSchema,
} from "./control-schemas.ts";
import { encodeListSeats } from "./control-seats.ts";
import { encodeGetSession, encodeNewSession, encodeSignOut } from "./control-sessions.ts";
import { inputOf } from "./runs-input.fixture.ts";

const id = "3f0c7e9a-0000-4000-8000-000000000001";
const at = "2026-01-02T03:04:05.678901Z";
const user = { id, primaryEmail: "a@b.co", createdAt: at } satisfies MessageInitShape<typeof UserSchema>;
const organization = {
  id,
  slug: "acme",
  name: "Acme",
  planTier: "free",
  billingState: "free_active",
  accountType: "business",
  seatLimit: 2,
  createdAt: at,
} satisfies MessageInitShape<typeof OrganizationSchema>;
const membership = {
  id,
  orgId: id,
  userId: id,
  role: "owner",
  status: "active",
  createdAt: at,
} satisfies MessageInitShape<typeof MembershipSchema>;
const key = {
  id,
  orgId: id,
  serviceAccountId: id,
  name: "ci",
  keyPrefix: "tm_0123456789a",
  scopes: ["export:read"],
  createdAt: at,
} satisfies MessageInitShape<typeof ApiKeySchema>;
const invitation = {
  id,
  orgId: id,
  email: "a@b.co",
  role: "member",
  status: "pending",
  createdAt: at,
  expiresAt: at,
  lastSentAt: at,
  deliveryStatus: "sent",
} satisfies MessageInitShape<typeof InvitationSchema>;
const view = {
  session: { id, userId: id, orgId: id, createdAt: at, expiresAt: at },
  user,
  organization,
  membership,
  memberships: [
    {
      orgId: id,
      name: "Acme",
      slug: "acme",
      planTier: "free",
      role: "owner",
      status: "active",
      memberCount: 1,
      isCurrent: true,
    },
  ],
} satisfies MessageInitShape<typeof SessionViewSchema>;

const ajv = addFormats.default(new Ajv2020.default({ strict: false }));
/** Checks an answer against the schema that documents it. */
const expectToFit = (schema: object, body: unknown): void => {
  expect(ajv.validate(schema, body) ? [] : ajv.errors).toEqual([]);
};

describe("a session", () => {
  test("is shown with its user, organization and memberships", () => {
    const { body, headers } = encodeGetSession(create(GetSessionResponseSchema, { view }));
    expect(headers).toEqual({ "cache-control": "no-store" });
    expectToFit(maybeSessionSchema, body);
    expect(body).toMatchObject({
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

  test("that is none is no error", () => {
    const { body } = encodeGetSession(create(GetSessionResponseSchema));
    expect(body).toEqual({ authenticated: false });
    expectToFit(maybeSessionSchema, body);
  });

  const cookie = "tidemark_session=t; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000";
  test.each([
    ["over http on this machine", false, cookie],
    ["everywhere else", true, `${cookie}; Secure`],
  ])("that is new comes with its cookie, %s", (_, cookieSecure, expected) => {
    const response = create(SwitchOrganizationResponseSchema, {
      created: { view, token: "t", maxAgeSeconds: 2_592_000 },
    });
    const { headers } = encodeNewSession(response, { ...inputOf({}), cookieSecure });
    expect(headers).toEqual({ "cache-control": "no-store", "set-cookie": expected });
  });

  test("that stays comes without a cookie", () => {
    const response = create(SwitchOrganizationResponseSchema, { created: { view } });
    expect(encodeNewSession(response, inputOf({})).headers).toEqual({ "cache-control": "no-store" });
  });

  test("that ends takes its cookie with it", () => {
    const { body, headers } = encodeSignOut({}, inputOf({}));
    expect(body).toEqual({ authenticated: false });
    expect(headers?.["set-cookie"]).toBe("tidemark_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
  });
});

test("a new key is shown with its text, once and to be kept by nobody", () => {
  const created = { plaintext: "tm_x", key, serviceAccount: { id, orgId: id, name: "ci", createdAt: at } };
  const { body, headers } = encodeCreateApiKey(create(CreateApiKeyResponseSchema, { created }));
  expect(headers).toEqual({ "cache-control": "no-store" });
  expectToFit(newApiKeySchema, body);
  expect(body).toMatchObject({ api_key: "tm_x", api_key_available: true, message: null });
  expect(body).toMatchObject({ key: { project_id: null, expires_at: null, last_used_at: null, revoked_at: null } });
});

describe("a device login", () => {
  test("starts with its codes and the page to go to", () => {
    const login = create(StartDeviceLoginResponseSchema, {
      deviceCode: "d",
      userCode: "ABCD-EFGH",
      expiresInSeconds: 900,
      intervalSeconds: 5,
      verificationUri: "http://x/auth/device",
    });
    expect(encodeStartDeviceLogin(login).body).toEqual({
      device_code: "d",
      user_code: "ABCD-EFGH",
      verification_uri: "http://x/auth/device",
      verification_uri_complete: "http://x/auth/device?code=ABCD-EFGH",
      expires_in: 900,
      interval: 5,
    });
  });

  test("shows its status alone until it is authorized", () => {
    expect(encodePollDeviceLogin(create(PollDeviceLoginResponseSchema, { status: "pending" })).body).toEqual({
      status: "pending",
    });
  });

  test("ends with the key, its organization and who approved", () => {
    const answer = create(PollDeviceLoginResponseSchema, {
      status: "authorized",
      created: { plaintext: "tm_x", key },
      organization,
      user,
    });
    expect(encodePollDeviceLogin(answer).body).toEqual({
      status: "authorized",
      api_key: { plaintext: "tm_x", prefix: "tm_0123456789a", id },
      org: { id, name: "Acme", slug: "acme" },
      user: { primary_email: "a@b.co", display_name: null },
    });
  });
});

test("seats show of people what colleagues may know", () => {
  const { body } = encodeListSeats(create(ListSeatsResponseSchema, { seats: [{ membership, user }] }));
  expectToFit(objectSchema({ seats: listSchema(seatSchema) }), body);
  expect(body).toMatchObject({
    seats: [{ user: { id, primary_email: "a@b.co", display_name: null, avatar_url: null } }],
  });
});

test("a list of invitations says which page it is", () => {
  const response = create(ListInvitationsResponseSchema, { invitations: [invitation] });
  const { body } = encodeListInvitations(response, inputOf({ query: { limit: "7", offset: "3" } }));
  expect(body).toMatchObject({ invitations: [{ accepted_at: null, revoked_at: null }], limit: 7, offset: 3 });
});

describe("an organization of one's own", () => {
  const response = (created?: object) =>
    create(CreateOwnOrganizationResponseSchema, {
      organization,
      membership,
      invitations: [{ invitation, previewLink: "http://x/y" }],
      ...(created === undefined ? {} : { created }),
    });

  test("is shown without a session when its owner stays where they are", () => {
    const { body, headers } = encodeCreateOwnOrganization(response(), inputOf({}));
    expect(headers).toEqual({ "cache-control": "no-store" });
    expect(body).toMatchObject({ session: null, billing_checkout: null, onboarding_api_key: null, memberships: [] });
    const { invitations } = body as { invitations: unknown[] };
    expectToFit(listSchema(sentInvitationSchema), invitations);
    expect(invitations).toMatchObject([{ preview_link: "http://x/y", delivery_error: null }]);
  });

  test("is shown with session and cookie when its owner goes there", () => {
    const created = { view, token: "t", maxAgeSeconds: 9 };
    const { body, headers } = encodeCreateOwnOrganization(response(created), inputOf({}));
    expect(body).toMatchObject({ session: { authenticated: true, session: { id } } });
    expect(headers?.["set-cookie"]).toContain("tidemark_session=t; ");
  });
});
