import { expect, test } from "@jest/globals";
import { createTeam, newEmail, sessionCookie, signIn, type Person } from "../../stack/people.ts";
import { expectAccessible, describeDashboard, expectClean, settled } from "./open-dashboard.ts";
import { cookieOf, PHONE } from "../browser.ts";

describeDashboard("signing in", (scene) => {
  test("asks who is not signed in, on a page that is accessible, and keeps the address", async () => {
    const { open, stack } = scene();
    const watched = await open({ path: "/settings/imports?x=1", role: "nobody", theme: "dark", viewport: PHONE });
    const { page } = watched;
    await page.waitForURL(/\/signin\?next=/);
    await page.getByLabel("API key").waitFor();
    await expectAccessible(watched);
    await expectClean(watched, stack);
    const { key } = await stack.organization();
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stack.baseUrl}/settings/imports?x=1`);
    await page.getByRole("heading", { name: "Imports" }).waitFor();
    expect(page.url()).toBe(`${stack.baseUrl}/settings/imports?x=1`);
  });

  test("says what is wrong with a key, and stays", async () => {
    const { open } = scene();
    const { page } = await open({ path: "/signin", role: "nobody" });
    await page.getByLabel("API key").fill("tm_wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    expect(new URL(page.url()).pathname).toBe("/signin");
  });

  test("leads to no other site", async () => {
    const { open, stack } = scene();
    const { page, requests } = await open({ path: "/signin?next=https%3A%2F%2Fevil.test%2F" });
    await page.waitForURL(`${stack.baseUrl}/`);
    // The page that signs in left out the styles of others.
    await settled({ page });
    expect(await page.evaluate(() => document.styleSheets.length)).toBe(2);
    expect(requests.filter((request) => request.url().includes("//evil.test"))).toEqual([]);
  });

  test("removes a token from the address immediately, and says that it was used", async () => {
    const { open } = scene();
    const watched = await open({ path: "/signin#token=tm_once_used", role: "nobody" });
    await watched.page.getByText("This link was already used").waitFor();
    expect(watched.page.url()).not.toContain("token");
    expect(watched.requests.some((request) => request.url().includes("tm_once"))).toBe(false);
  });

  test("is asked for over the page when its session has ended, and the page goes on", async () => {
    const { open, stack } = scene();
    const { owner } = await createTeam(stack);
    const { id } = (await owner.browser.post("/runs", { project: "ended", name: "kept" })).json.run as { id: string };
    const watched = await open({ path: "/signin", role: "nobody" });
    const { page, requests } = watched;
    const signedInAs = ({ browser }: Pick<Person, "browser">) =>
      page.context().addCookies([cookieOf(stack.baseUrl, browser.token()!)]);
    await signedInAs(owner);
    await page.goto(`${stack.baseUrl}/p/ended/r/${id}/overview`);
    await page.getByRole("button", { name: "Write readme" }).press("Enter");
    await page.getByLabel("Readme in Markdown").fill("# Typed before");
    await page.getByRole("button", { name: "Edit notes" }).press("Enter");
    await page.getByRole("textbox", { name: "Notes" }).fill("typed too");
    const before = requests.length;
    expect((await owner.browser.post("/api/auth/logout")).status).toBe(200);
    await page.getByRole("button", { name: "Save notes" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.getByLabel("API key").waitFor();
    await expectAccessible(watched);
    expect(new URL(page.url()).pathname).toBe(`/p/ended/r/${id}/overview`);
    expect(await page.getByLabel("Readme in Markdown").inputValue()).toBe("# Typed before");
    expect(await page.getByRole("textbox", { name: "Notes" }).inputValue()).toBe("typed too");
    // Whatever the page would read waits.
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Sign in" }).press("Enter");
    const address = dialog.getByLabel("E-mail address");
    await address.waitFor();
    expect(await address.inputValue()).toBe(owner.email);
    expect(await address.evaluate((field) => field === document.activeElement)).toBe(true);
    const statuses = await Promise.all(requests.slice(before).map(async (one) => (await one.response())?.status()));
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(4);
    expect(statuses.length).toBeLessThanOrEqual(12);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    // The write that was refused goes on, and the rest is as it was.
    await page.locator(".tm-run-notes").getByText("typed too").waitFor();
    expect(await page.getByLabel("Readme in Markdown").inputValue()).toBe("# Typed before");
    const again = await signIn(stack, { email: owner.email });
    expect((await again.browser.patch(`/runs/${id}`, { notes: "changed elsewhere" })).status).toBe(200);
    await page.locator(".tm-run-notes").getByText("changed elsewhere").waitFor();

    // Another tab has signed in as the same user, and then as another one.
    const end = async (): Promise<void> => {
      const value = (await page.context().cookies()).find(({ name }) => name === sessionCookie)!.value;
      await stack.api.post(
        "/api/auth/logout",
        {},
        { headers: { cookie: `${sessionCookie}=${value}`, origin: stack.baseUrl } },
      );
      await dialog.waitFor();
    };
    await end();
    await signedInAs(again);
    await page.evaluate(() => dispatchEvent(new Event("focus")));
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByLabel("Readme in Markdown").inputValue()).toBe("# Typed before");
    await end();
    await dialog.getByLabel("E-mail address").fill(newEmail());
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    await settled(watched);
    expect(await page.getByLabel("Readme in Markdown").count()).toBe(0);
  });

  test("signs out", async () => {
    const { open, stack } = scene();
    const team = await createTeam(stack);
    const watched = await open({ path: "/signin", role: "nobody" });
    const { page } = watched;
    const value = team.owner.browser.token()!;
    await page.context().addCookies([{ name: "tidemark_session", value, url: stack.baseUrl }]);
    await page.goto(stack.baseUrl);
    await settled(watched);
    await page.getByRole("button", { name: /^Account in/ }).press("Enter");
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${stack.baseUrl}/signin`);
    expect((await team.owner.browser.get("/api/orgs/memberships")).status).toBe(401);
  });

  test("approves a device", async () => {
    const { open, stack } = scene();
    const started = (await stack.api.post("/api/auth/device-code/start", {})).json;
    const watched = await open({ path: `/auth/device?code=${started.user_code}` });
    await expectAccessible(watched);
    await watched.page.getByRole("button", { name: "Approve" }).press("Enter");
    await watched.page.getByText("The device is signed in").waitFor();
    const polled = await stack.api.post("/api/auth/device-code/poll", { device_code: started.device_code });
    expect(polled.json).toMatchObject({ status: "authorized" });
  });

  test("joins an organization by the link of an invitation", async () => {
    const { open, stack, team } = scene();
    const other = await createTeam(stack);
    const invited = await team.owner.browser.post(`/api/orgs/${team.orgId}/invitations`, {
      email: other.owner.email,
      role: "viewer",
    });
    const link = new URL(String(invited.json.preview_link));
    const watched = await open({ path: "/signin", role: "nobody" });
    const { page } = watched;
    const value = other.owner.browser.token()!;
    await page.context().addCookies([{ name: "tidemark_session", value, url: stack.baseUrl }]);
    await page.goto(`${stack.baseUrl}${link.pathname}${link.hash}`);
    await page.getByRole("button", { name: `Join ${team.name}` }).waitFor();
    await expectAccessible(watched);
    expect(page.url()).toBe(`${stack.baseUrl}/invite`);
    await page.getByRole("button", { name: `Join ${team.name}` }).press("Enter");
    await page.waitForURL(`${stack.baseUrl}/`);
    await page.getByRole("button", { name: `Account in ${team.name}` }).waitFor();
    const seats = (await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`)).json.seats;
    expect(JSON.stringify(seats)).toContain(other.owner.email);

    // Without an account the link itself signs in.
    const email = newEmail();
    const sent = await team.owner.browser.post(`/api/orgs/${team.orgId}/invitations`, { email, role: "viewer" });
    const second = new URL(String(sent.json.preview_link));
    const fresh = await open({ path: `${second.pathname}${second.hash}`, role: "nobody" });
    await fresh.page.getByText("This link signs you in on this device, once.").waitFor();
    await expectAccessible(fresh);
    await fresh.page.getByRole("button", { name: `Join ${team.name}` }).press("Enter");
    await fresh.page.getByRole("button", { name: `Account in ${team.name}` }).waitFor();
  });
});
