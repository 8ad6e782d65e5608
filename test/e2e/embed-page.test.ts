import { createHash, randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { revokeKeys } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";

const ORIGIN = "https://portal.test";

/** Makes an embed session of a new run and returns its id. */
async function newEmbed(api: Api): Promise<string> {
  const { id } = (await api.post("/runs", { project: "p" })).json.run as { id: string };
  const body = { run_ids: [id], allowed_parent_origin: ORIGIN, options: { theme: "light" } };
  return (await api.post("/api/embed/sessions", body)).json.embed_session.id as string;
}

/** Expects the headers of a page that no other page may embed. */
function expectUnframed({ headers }: Answer): void {
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'$/),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
  });
}

describeModes("the page of an embed session", (stack) => {
  const page = (id: string, headers = {}): Promise<Answer> => stack().api.get(`/embed/runs/${id}`, { headers });

  test("may be shown by pages of its origin, and runs its own script alone", async () => {
    const { api } = await stack().organization();
    const { status, headers, text } = await page(await newEmbed(api), { accept: "text/html" });
    expect(status).toBe(200);
    const hash = (tag: string): string => {
      const [, content = ""] = new RegExp(`<${tag}[^>]*>(.*)</${tag}>`, "s").exec(text)!;
      return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
    };
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; script-src ${hash("script")}; style-src ${hash("style")}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${ORIGIN}`,
      "cache-control": "private, no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    for (const absent of ["x-frame-options", "vary", "set-cookie", "etag"]) expect(headers).not.toHaveProperty(absent);
    expect(text).toMatch(/^<!doctype html><html lang="en" data-theme="light" data-lasts-ms="8\d{5}">/);
  });

  test("is the same with a cookie, and with credentials that are not valid", async () => {
    const { api } = await stack().organization();
    const id = await newEmbed(api);
    const plain = await page(id);
    const more = await page(id, { cookie: "tidemark_session=x", authorization: "Bearer x" });
    const withoutTime = ({ text }: Answer): string => text.replace(/lasts-ms="\d+"/, "");
    expect([more.status, withoutTime(more)]).toEqual([200, withoutTime(plain)]);
  });

  test("says that a session is unknown, has ended or was withdrawn", async () => {
    const { api, orgId } = await stack().organization();
    const [id, expired] = [await newEmbed(api), await newEmbed(api)];
    await queryDatabase(stack(), "UPDATE reports.embed_sessions SET expires_at = now() WHERE id = $1", [expired]);
    await revokeKeys(stack(), orgId);
    for (const [asked, words] of [
      [randomUUID(), "not found"],
      ["no-id", "not found"],
      ["%3Cb%3E", "not found"],
      [expired, "has ended"],
      [id, "was withdrawn"],
    ] as const) {
      const answer = await page(asked);
      expect([asked, answer.status]).toEqual([asked, 404]);
      expect(answer.text).toContain(words);
      expectUnframed(answer);
    }
    expect((await page(randomUUID(), { accept: "application/json" })).status).toBe(404);
  });

  test("counts addresses that ask for sessions which do not work", async () => {
    const { api } = await stack().organization();
    const id = await newEmbed(api);
    for (let i = 0; i < 40; i += 1) expect((await page(id)).status).toBe(200);
    const bad = await Promise.all(Array.from({ length: 60 }, () => page(randomUUID())));
    const refused = bad.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expectUnframed(refused[0]!);
    expect(Number(refused[0]!.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  });
});

describeModes("pages", (stack) => {
  test("are HTML that no site may show in a frame, for all of their errors", async () => {
    type Operation = { responses: Record<string, { content?: Record<string, unknown> }> };
    const paths = Object.entries(
      (await stack().api.get("/openapi.json")).json.paths as Record<string, { get?: Operation }>,
    );
    const pages = paths.filter(([, { get }]) => get?.responses["200"]?.content?.["text/html"] !== undefined);
    expect(pages.map(([path]) => path)).toContain("/embed/runs/{session_id}");
    for (const [path, { get }] of pages) {
      for (const { content } of Object.values(get!.responses))
        expect(Object.keys(content ?? {})).toEqual(["text/html"]);
      const address = path.replaceAll(/\{\w+\}/g, randomUUID());
      for (const asked of [address, `${address}?a=1&a=2`]) expectUnframed(await stack().api.get(asked));
    }
  });
});
