import { describe, expect, test } from "@jest/globals";
import { refusalOf } from "../refusal.fixture.ts";
import { requireResendable, requireRevocable, statusAt, type InvitationState } from "./invitations.rules.ts";

const now = new Date("2026-01-01T00:00:00Z");
const at = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
const invitation = (part: Partial<InvitationState>): InvitationState => ({
  status: "pending",
  expiresAt: at(3600),
  lastSentAt: at(-3600),
  sendingFailed: false,
  ...part,
});

test.each<[string, Partial<InvitationState>, string]>([
  ["that is open", {}, "pending"],
  ["that ends now", { expiresAt: now }, "expired"],
  ["that was accepted long ago", { status: "accepted", expiresAt: at(-1) }, "accepted"],
  ["that was revoked long ago", { status: "revoked", expiresAt: at(-1) }, "revoked"],
])("an invitation %s has its status", (_, part, status) => expect(statusAt(invitation(part), now)).toBe(status));

describe("sending again", () => {
  test.each<[string, Partial<InvitationState>]>([
    ["after a quarter of an hour", { lastSentAt: at(-900) }],
    ["immediately when the message could not be sent", { lastSentAt: now, sendingFailed: true }],
  ])("is allowed %s", (_, part) => expect(requireResendable(invitation(part), now)).toBeUndefined());

  test.each<[string, Partial<InvitationState>, string]>([
    ["a second too early", { lastSentAt: at(-899) }, "invite_resend_rate_limited"],
    ["when it has expired", { expiresAt: at(-1) }, "invite_expired"],
    ["when it has expired and is marked so", { status: "expired" }, "invite_expired"],
    ["when it was accepted", { status: "accepted" }, "conflict"],
    ["when it was revoked", { status: "revoked" }, "conflict"],
  ])("is refused %s", (_, part, reason) => {
    expect(refusalOf(() => requireResendable(invitation(part), now))).toMatchObject({ reason });
  });

  test("says how long to wait", () => {
    expect(refusalOf(() => requireResendable(invitation({ lastSentAt: at(-600.5) }), now))).toMatchObject({
      retryAfterSeconds: 300,
    });
  });
});

test.each<[string, Partial<InvitationState>]>([
  ["accepted", { status: "accepted" }],
  ["revoked", { status: "revoked" }],
  ["expired", { expiresAt: at(-1) }],
])("an invitation that is %s cannot be revoked", (_, part) => {
  expect(refusalOf(() => requireRevocable(invitation(part), now))).toMatchObject({ reason: "conflict" });
});
