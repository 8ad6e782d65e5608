import { describe, expect, test } from "@jest/globals";
import { decodeListInvitations } from "./invitations/invitations.ts";
import { decodeListApiKeys } from "./keys/keys.ts";
import { decodeListOrganizations } from "./organizations/organizations.ts";
import { decodeListSeats, decodeListUsers } from "./organizations/people.ts";
import { inputOf } from "./route-input.fixture.ts";

describe("lists", () => {
  test.each([
    ["GET /api/users", decodeListUsers, 1000],
    ["GET /api/orgs", decodeListOrganizations, 1000],
    ["GET /api/orgs/{org_id}/api-keys", decodeListApiKeys, 1000],
    ["GET /api/orgs/{org_id}/seats", decodeListSeats, 1000],
    ["GET /api/orgs/{org_id}/invitations", decodeListInvitations, 200],
  ])("%s has pages of 100 by default, and refuses others than 1 to %3$d", (_, decode, max) => {
    expect(decode(inputOf({ params: { org_id: "org" } }))).toMatchObject({ page: { limit: 100, offset: 0n } });
    const query = { limit: String(max), offset: "7" };
    expect(decode(inputOf({ params: { org_id: "org" }, query }))).toMatchObject({ page: { limit: max, offset: 7n } });
    const wrongs: Record<string, string>[] = [
      { limit: "0" },
      { limit: String(max + 1) },
      { limit: "x" },
      { offset: "-1" },
    ];
    for (const wrong of wrongs) {
      expect(() => decode(inputOf({ params: { org_id: "org" }, query: wrong }))).toThrow(
        expect.objectContaining({ reason: "bad_request" }),
      );
    }
  });
});
