import { expect, test } from "@jest/globals";
import type { Answer } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { smallPlans } from "../stack/settings.ts";
import { createTeam, inviteTokenIn, newEmail, signIn, type Team } from "../stack/people.ts";

describeModes(
  "seats where the plan's limits are on",
  (stack) => {
    const seatsOf = (team: Team): string => `/api/orgs/${team.orgId}/seats`;
    const invitationsOf = (team: Team): string => `/api/orgs/${team.orgId}/invitations`;
    const giveSeat = (team: Team, email = newEmail()): Promise<Answer> =>
      team.owner.browser.post(seatsOf(team), { email, role: "viewer" });
    const invite = (team: Team, email = newEmail()): Promise<Answer> =>
      team.owner.browser.post(invitationsOf(team), { email, role: "viewer" });

    test("more seats than the plan has are 409, and nothing of them stays", async () => {
      const team = await createTeam(stack(), "free");
      expect((await giveSeat(team)).status).toBe(200);
      expect(await giveSeat(team)).toMatchObject({ status: 409, json: { error: expect.any(String) } });
      expect((await team.owner.browser.get(seatsOf(team))).json.seats).toHaveLength(2);
    });

    test("members and invitations fill the seats of the plan, then 409 invite_seat_limit_reached", async () => {
      const team = await createTeam(stack(), "free");
      const { id } = (await invite(team)).json.invitation;
      expect(await invite(team)).toMatchObject({ status: 409, json: { code: "invite_seat_limit_reached" } });
      expect((await giveSeat(team)).status).toBe(409);
      expect((await team.owner.browser.post(`${invitationsOf(team)}/${id}/revoke`)).status).toBe(200);
      expect((await invite(team)).status).toBe(200);
      expect((await team.owner.browser.get(invitationsOf(team))).json.invitations).toHaveLength(2);
    });

    test("a person who accepts takes the seat that the invitation held, and no second one", async () => {
      const team = await createTeam(stack(), "free");
      const guest = await signIn(stack());
      const token = inviteTokenIn(await invite(team, guest.email));
      expect((await guest.browser.post("/api/invitations/accept", { token })).status).toBe(200);
      expect(await invite(team)).toMatchObject({ status: 409, json: { code: "invite_seat_limit_reached" } });
      expect((await team.owner.browser.get(seatsOf(team))).json.seats).toHaveLength(2);
    });

    test("simultaneous seats and invitations do not take more than there are", async () => {
      const team = await createTeam(stack(), "pro");
      const answers = await Promise.all([invite(team), giveSeat(team), invite(team), giveSeat(team), invite(team)]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(3);
    });

    test("a personal organization has the one seat of its owner", async () => {
      const { browser, orgId } = await signIn(stack());
      expect([400, 409]).toContain((await browser.post(`/api/orgs/${orgId}/seats`, { email: newEmail() })).status);
      expect((await browser.get(`/api/orgs/${orgId}/seats`)).json.seats).toHaveLength(1);
    });
  },
  smallPlans,
);
