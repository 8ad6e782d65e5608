import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ApiKeySchema,
  InvitationSchema,
  MembershipSchema,
  OrganizationSchema,
  SessionViewSchema,
  UserSchema,
} from "@tidemark/proto/control/v1/control";

// Messages of the control service for tests of encoders.

export const id = "3f0c7e9a-0000-4000-8000-000000000001";
export const at = "2026-01-02T03:04:05.678901Z";
export const user = { id, primaryEmail: "a@b.co", createdAt: at } satisfies MessageInitShape<typeof UserSchema>;
export const organization = {
  id,
  slug: "acme",
  name: "Acme",
  planTier: "free",
  billingState: "free_active",
  accountType: "business",
  seatLimit: 2,
  createdAt: at,
} satisfies MessageInitShape<typeof OrganizationSchema>;
export const membership = {
  id,
  orgId: id,
  userId: id,
  role: "owner",
  status: "active",
  createdAt: at,
} satisfies MessageInitShape<typeof MembershipSchema>;
export const key = {
  id,
  orgId: id,
  serviceAccountId: id,
  name: "ci",
  keyPrefix: "tm_0123456789a",
  scopes: ["export:read"],
  createdAt: at,
} satisfies MessageInitShape<typeof ApiKeySchema>;
export const invitation = {
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
export const view = {
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
