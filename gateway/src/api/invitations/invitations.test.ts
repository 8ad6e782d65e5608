import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { ListInvitationsResponseSchema } from "@tidemark/proto/control/v1/control";
import { invitation } from "../accounts.fixture.ts";
import { describeBody, describeRowBody, inputOf } from "../route-input.fixture.ts";
import {
  decodeAcceptInvitation,
  decodeCreateInvitation,
  decodeListInvitations,
  decodePreviewInvitation,
  decodeResendInvitation,
  decodeRevokeInvitation,
  encodeListInvitations,
} from "./invitations.ts";

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
  [["a token that is not a text", { token: 1 }, "token"]],
);

test.each<[string, object, object]>([
  [
    "an invitation to send again",
    decodeResendInvitation(inputOf({ params: { org_id: "org", invitation_id: "i" } })),
    { orgId: "org", invitationId: "i", baseUrl },
  ],
  [
    "an invitation to take back",
    decodeRevokeInvitation(inputOf({ params: { org_id: "org", invitation_id: "i" } })),
    { orgId: "org", invitationId: "i" },
  ],
])("%s is sent on", (_, message, expected) => expect(message).toEqual(expected));

test("a list of invitations says which page it is", () => {
  const response = create(ListInvitationsResponseSchema, { invitations: [invitation] });
  const { body } = encodeListInvitations(
    response,
    decodeListInvitations(inputOf({ query: { limit: "7", offset: "3" } })),
  );
  expect(body).toMatchObject({ invitations: [{ accepted_at: null, revoked_at: null }], limit: 7, offset: 3 });
});
