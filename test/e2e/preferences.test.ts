import { expect, test } from "@jest/globals";
import { describeModes } from "../stack/modes.ts";
import { createTeam, signIn } from "../stack/people.ts";

const PATH = "/api/dashboard/preferences";

describeModes("dashboard preferences", (stack) => {
  const put = (person: Awaited<ReturnType<typeof signIn>>, body: object, headers: Record<string, string> = {}) =>
    person.browser.call("PUT", PATH, { body, headers });

  test("are each user's own in each organization", async () => {
    const team = await createTeam(stack());
    const [owner, member] = [team.owner, await team.join("member")];
    const never = { preferences: { selected_project: null, updated_at: null } };
    expect((await owner.browser.get(PATH)).json).toEqual(never);
    const saved = await put(owner, { selected_project: " rl " });
    expect(saved).toMatchObject({
      status: 200,
      json: { preferences: { selected_project: "rl", updated_at: expect.any(String) } },
    });
    expect((await owner.browser.get(PATH)).json).toEqual(saved.json);
    expect((await member.browser.get(PATH)).json).toEqual(never);
    for (const body of [{ selected_project: null }, { selected_project: "" }, {}]) {
      await put(owner, { selected_project: "rl" });
      expect((await put(owner, body)).json.preferences.selected_project).toBeNull();
    }
  });

  test("are refused with 400 for an invalid project name", async () => {
    const person = await signIn(stack());
    for (const selected_project of [1, "p".repeat(513)]) {
      expect(await put(person, { selected_project })).toMatchObject({
        status: 400,
        json: { field: "selected_project" },
      });
    }
  });

  test("are 401 for keys and without credentials", async () => {
    const { api } = await stack().organization();
    for (const caller of [api, stack().api]) {
      expect((await caller.get(PATH)).status).toBe(401);
      expect((await caller.call("PUT", PATH, { body: {} })).status).toBe(401);
    }
  });

  test("are 403 for a viewer who writes, and from another site", async () => {
    const team = await createTeam(stack());
    const viewer = await team.join("viewer");
    expect((await viewer.browser.get(PATH)).status).toBe(200);
    expect((await put(viewer, {})).status).toBe(403);
    expect((await put(team.owner, {}, { origin: "https://elsewhere.test" })).status).toBe(403);
  });
});
