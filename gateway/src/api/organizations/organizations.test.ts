import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { CreateOwnOrganizationResponseSchema, ListSeatsResponseSchema } from "@tidemark/proto/control/v1/control";
import { id, invitation, membership, organization, user, view } from "../accounts.fixture.ts";
import { describeBody, describeRowBody, inputOf } from "../route-input.fixture.ts";
import { bodyOf } from "../response-schema.fixture.ts";
import { decodeCheckOrganizationName, decodeCreateOrganization, decodeUpdateOrganization } from "./organizations.ts";
import { decodeCreateOwnOrganization, encodeCreateOwnOrganization } from "./own-organization.ts";
import { decodeAddSeat, decodeCreateUser, encodeListSeats } from "./people.ts";

const uuid = "3f0c7e9a-0000-4000-8000-000000000001";
const tooLong = "x".repeat(513);
const baseUrl = "http://127.0.0.1:8080";

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
    ["an address that is not a text", { email: 1 }, "email"],
    ["a name that is not a text", { email: "a@b.co", display_name: [] }, "display_name"],
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
    ["a name that is not a text", { name: {} }, "name"],
    ["a name with NUL", { name: "a\0b" }, "name"],
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
  [["a blank state", { billing_state: " " }, "billing_state"]],
);

describeRowBody(
  "POST /api/orgs/{org_id}/seats",
  decodeAddSeat,
  [
    ["an address", { email: " a@b.co " }, { email: "a@b.co", role: "" }],
    ["an address and a role", { email: "a@b.co", role: "admin" }, { email: "a@b.co", role: "admin" }],
  ],
  [["no address", {}, "email"]],
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
    ["an invitation that is not an object", { name: "A", initial_invitations: ["a@b.co"] }, "initial_invitations"],
    ["an invitation without an address", { name: "A", initial_invitations: [{}] }, "email"],
  ],
);

describe("GET /api/orgs/name-availability", () => {
  test("reads the name", () => {
    expect(decodeCheckOrganizationName(inputOf({ query: { name: " A " } }))).toEqual({ name: "A" });
  });
});

test("seats show of people what colleagues may know", () => {
  const reply = encodeListSeats(create(ListSeatsResponseSchema, { seats: [{ membership, user }] }));
  expect(bodyOf(reply, "GET /api/orgs/{org_id}/seats")).toMatchObject({
    seats: [{ user: { id, primary_email: "a@b.co", display_name: null, avatar_url: null } }],
  });
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
    const reply = encodeCreateOwnOrganization(response(), undefined, inputOf({}));
    expect(reply.headers).toEqual({ "cache-control": "no-store" });
    const body = bodyOf(reply, "POST /api/orgs/current-user");
    expect(body).toMatchObject({ session: null, billing_checkout: null, onboarding_api_key: null, memberships: [] });
    expect(body["invitations"]).toMatchObject([{ preview_link: "http://x/y", delivery_error: null }]);
  });

  test("is returned with a session and a cookie when its owner switches to it", () => {
    const created = { view, token: "t", maxAgeSeconds: 9 };
    const { body, headers } = encodeCreateOwnOrganization(response(created), undefined, inputOf({}));
    expect(body).toMatchObject({ session: { authenticated: true, session: { id } } });
    expect(headers?.["set-cookie"]).toContain("tidemark_session=t; ");
  });
});
