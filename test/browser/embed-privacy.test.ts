import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Frame } from "playwright-core";
import { sessionCookie, newEmail, revokeKeys } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";
import type { OwnStack } from "../stack/stack.ts";
import { describeEmbeds, newEmbed, newRun, type Made, type Scene } from "./embeds.ts";

// Where browsers show an embedded view, what they send along, and when it is over.

/** Where a frame is that a browser refuses to show. */
const REFUSED = "chrome-error://chromewebdata/";

async function untilRefused({ watched }: Scene, frame: Frame): Promise<void> {
  const isSaid = (): boolean => watched.faults.some((text) => /frame-ancestors|X-Frame-Options/i.test(text));
  await until("the refusal", () => isSaid() && frame.url() === REFUSED);
}

/** Signs in, so that the browser has a session cookie for the server, and shows that it sends it. */
async function signIn({ stack, context, watched }: Scene): Promise<void> {
  const { baseUrl } = stack;
  const data = { email: newEmail() };
  const answer = await context.request.post(`${baseUrl}/api/auth/dev/google`, { data, headers: { origin: baseUrl } });
  expect(answer.status()).toBe(200);
  const cookie = (await context.cookies()).find(({ name }) => name === sessionCookie);
  expect(cookie).toMatchObject({ sameSite: "Lax", httpOnly: true });
  const own = (await watched.page.goto(`${baseUrl}/health`))!.request();
  expect((await own.allHeaders())["cookie"]).toContain(sessionCookie);
  watched.requests.length = 0;
}

describeEmbeds("embedded views", (scene) => {
  test("are not shown to pages of another origin, if only its port differs", async () => {
    const { stack, portal, stranger, watched, show } = scene();
    const { api } = await stack.organization();
    const { address } = await newEmbed(api, [await newRun(api, "hidden", { loss: [1] })], portal.origin);
    const frame = await show(address, stranger);
    await untilRefused(scene(), frame);
    expect(watched.requests.filter((request) => request.url().includes("/runs/data"))).toEqual([]);
  });

  test("that do not exist are a page which no site can show", async () => {
    const { stack, watched, show } = scene();
    const address = `${stack.baseUrl}/embed/runs/${randomUUID()}`;
    const answer = (await watched.page.goto(address))!;
    expect(answer.status()).toBe(404);
    expect(await watched.page.locator("h1").innerText()).toBe("This page does not exist");
    watched.faults.length = 0;
    await untilRefused(scene(), await show(address));
  });

  test("get no cookies, and reveal their token to no other site", async () => {
    const { stack, portal, watched, show } = scene();
    const { api } = await stack.organization();
    const { baseUrl } = stack;
    const made = await newEmbed(api, [await newRun(api, "quiet", { loss: [1] })], portal.origin);
    await signIn(scene());
    const frame = await show(made.address);
    await frame.locator("svg[role=img]").waitFor();
    const ours = watched.requests.filter((request) => request.url().startsWith(baseUrl));
    expect(ours.map((request) => `${request.method()} ${new URL(request.url()).pathname}`)).toEqual([
      `GET /embed/runs/${made.id}`,
      `POST /api/embed/sessions/${made.id}/runs/data`,
    ]);
    const sent = await Promise.all(ours.map((request) => request.allHeaders()));
    expect(sent.map(({ cookie }) => cookie)).toEqual([undefined, undefined]);
    expect(sent.map(({ referer }) => referer)).toEqual([`${portal.origin}/`, undefined]);
    expect(JSON.stringify([portal.received, sent[0]])).not.toContain(made.token);
    expect(frame.url()).toBe(`${baseUrl}/embed/runs/${made.id}`);
    const processes = new Set(stack.children.values());
    for (const child of processes) expect(child.output()).not.toContain(made.token);
  });

  // The contract names origins of parent pages, and a page by itself has none. Its address is of the site of the cookie, so only the script keeps that back.
  test("open by themselves, and ask for data without the cookie that the browser has", async () => {
    const { stack, portal, watched } = scene();
    const { api } = await stack.organization();
    const made = await newEmbed(api, [await newRun(api, "alone", { loss: [1] })], portal.origin);
    await signIn(scene());
    await watched.page.goto(made.address);
    await watched.page.locator("svg[role=img]").waitFor();
    expect(watched.page.url()).toBe(`${stack.baseUrl}/embed/runs/${made.id}`);
    const asked = watched.requests.filter((request) => request.url().includes("/runs/data"));
    expect(await Promise.all(asked.map(async (one) => (await one.allHeaders())["cookie"]))).toEqual([undefined]);
  });

  test.each<[string, (stack: OwnStack, made: Made, orgId: string) => Promise<unknown>, string]>([
    [
      "the session expired",
      (stack, { id }) =>
        queryDatabase(
          stack,
          "UPDATE reports.embed_sessions SET expires_at = now() - interval '1 s' WHERE id = $1 RETURNING id",
          [id],
        ),
      "This embedded view has ended. Reload the page that shows it.",
    ],
    [
      "the key was revoked",
      (stack, _, orgId) => revokeKeys(stack, orgId),
      "This embedded view was revoked: the API key that created it is no longer valid.",
    ],
  ])("say so when %s, and do not open again", async (_, end, text) => {
    const { stack, portal, show } = scene();
    const { api, orgId } = await stack.organization();
    const made = await newEmbed(api, [await newRun(api, "over", { loss: [1] })], portal.origin);
    const frame = await show(made.address);
    await frame.locator("svg[role=img]").waitFor();
    await end(stack, made, orgId);
    const again = frame.getByRole("button", { name: "Refresh" });
    await until("the end", async () => {
      // The button disappears at the end, which may arrive while the click waits for it.
      await again.click({ timeout: 500 }).catch(() => undefined);
      return (await frame.getByRole("alert").count()) > 0;
    });
    expect(await frame.getByRole("alert").innerText()).toBe(text);
    expect(await frame.locator("svg, .run").count()).toBe(0);
    const { status, headers } = await stack.api.get(`/embed/runs/${made.id}`);
    expect([status, headers["x-frame-options"]]).toEqual([404, "DENY"]);
  });

  test("show nothing without their token, or with another one", async () => {
    const { stack, portal, show } = scene();
    const { api } = await stack.organization();
    const made = await newEmbed(api, [await newRun(api, "closed", { loss: [1] })], portal.origin);
    const without = await show(made.address.split("#")[0]!);
    await without.getByRole("alert").getByText("has no access token").waitFor();
    const wrong = await show(`${made.address}x`);
    await wrong.getByRole("alert").getByText("has ended").waitFor();
    expect(await wrong.locator("svg, .run").count()).toBe(0);
  });
});
