import { request, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";
import { startApp, type TestApp, type TestAppOptions } from "../app.fixture.ts";
import { ENTRY_TEXT, testBundle } from "./bundle.fixture.ts";
import { wantsHtml } from "./dashboard.ts";

const HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

let app: TestApp;
afterEach(() => app.close());
const start = async (options: Partial<TestAppOptions> = {}): Promise<void> => {
  app = await startApp({ routes: [], options: { bundle: testBundle }, ...options });
};
/** Sends a path unchanged: `fetch` would remove its dots. */
const call = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
  const { hostname, port } = new URL(app.url);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ hostname, port, path, method, headers, agent: false }, resolve).once("error", reject).end();
  });
  const bytes = await buffer(answer);
  return { status: answer.statusCode, headers: answer.headers, bytes, text: bytes.toString() };
};

describe("pages", () => {
  const paths = [
    "/",
    "/signin",
    "/signin?next=%2Fp%2Fa",
    "/p/a%2Fb",
    "/p/a/nothing/here",
    "/settings/keys",
    "/settings/",
    "/signin/",
    "/r/x/y",
  ];
  test.each(paths)("%s is HTML for a browser and a JSON 404 for a program", async (path) => {
    await start();
    const page = await call(path, { accept: HTML });
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.text).toContain('<script type="module" src="/assets/main.AAAA.js">');
    for (const accept of ["*/*", "application/json", "text/html;q=0"]) {
      const json = await call(path, { accept });
      expect([json.status, json.headers["content-type"]]).toEqual([404, "application/json; charset=utf-8"]);
      expect(JSON.parse(json.text)).toMatchObject({ error: "route not found" });
    }
  });

  test.each(["/x", "/signin/x", "/p", "/p/", "/auth", "/Signin", "//", "/assets", "/reports", "/api/p/a", "/p%2Fa"])(
    "%s is not a page",
    async (path) => {
      await start();
      const answer = await call(path, { accept: HTML });
      expect([answer.status, answer.headers["content-type"]]).toEqual([404, "application/json; charset=utf-8"]);
    },
  );

  test("are only read", async () => {
    await start();
    expect((await call("/signin", { accept: HTML }, "POST")).status).toBe(404);
    const [get, head] = [await call("/signin", { accept: HTML }), await call("/signin", { accept: HTML }, "HEAD")];
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
    expect(head.headers["content-security-policy"]).toBe(get.headers["content-security-policy"]);
  });

  test("run and load only files of this server, and cannot be framed", async () => {
    await start();
    const { headers, text } = await call("/", { accept: HTML });
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; " +
        "media-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types dompurify",
    );
    expect(headers).toMatchObject({
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-cache",
      vary: "Accept, Accept-Encoding",
    });
    expect(text).not.toMatch(/<style|<script>|style=|\son\w+=/);
  });

  test("name the parts that their first view needs", async () => {
    await start();
    const preloads = async (path: string) =>
      [...(await call(path, { accept: HTML })).text.matchAll(/modulepreload" href="([^"]+)"/g)].map(([, href]) => href);
    expect(await preloads("/")).toEqual(["/assets/part.EEEE.js"]);
    expect(await preloads("/signin")).toEqual([]);
    expect(await preloads("/p/a/unknown")).toEqual([]);
  });

  test("load the styles of pages with data, unless they sign in", async () => {
    await start();
    const relation = async (path: string) =>
      /<link rel="([^"]+)" href="\/assets\/pages.FFFF.css">/.exec((await call(path, { accept: HTML })).text)?.[1];
    expect(await relation("/")).toBe("stylesheet");
    expect(await relation("/p/a/unknown")).toBe("stylesheet");
    expect(await relation("/signin")).toBe("page-style");
  });

  test("load the styles that few pages have only on those", async () => {
    await start();
    const relation = async (path: string) =>
      /<link rel="([^"]+)" href="\/assets\/late.GGGG.css">/.exec((await call(path, { accept: HTML })).text)?.[1];
    expect(await relation("/p/a/artifacts")).toBe("stylesheet");
    expect(await relation("/p/a")).toBe("late-style");
  });

  test("need not be sent again while they are the same", async () => {
    await start();
    const { etag = "" } = (await call("/", { accept: HTML })).headers;
    const again = await call("/", { accept: HTML, "if-none-match": String(etag) });
    expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, etag]);
    expect((await call("/signin", { accept: HTML, "if-none-match": String(etag) })).status).toBe(200);
  });

  test("count against the address as other public pages do", async () => {
    await start({ settings: { limits: true } });
    let last = await call("/", { accept: HTML });
    for (let i = 0; i < 1000 && last.status === 200; i += 1) last = await call("/", { accept: HTML });
    expect(last.status).toBe(429);
    expect(last.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(last.text).toContain("Too many requests");
    expect(Number(last.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  });

  test("are measured under one name", async () => {
    await start();
    await call("/p/secret-name", { accept: HTML });
    await call("/assets/main.AAAA.js");
    await call("/p/secret-name");
    expect(app.measured.map(({ route, status }) => [route, status])).toEqual([
      ["dashboard page", 200],
      ["dashboard file", 200],
      ["unmatched", 404],
    ]);
  });

  test("are unknown paths where there is no dashboard", async () => {
    await start({ options: {} });
    expect((await call("/", { accept: HTML })).status).toBe(404);
    expect((await call("/assets/main.AAAA.js")).status).toBe(404);
  });
});

describe("files", () => {
  test("are kept for ever, compressed where that is wanted", async () => {
    await start();
    const plain = await call("/assets/main.AAAA.js");
    expect([plain.status, plain.text]).toEqual([200, ENTRY_TEXT]);
    expect(plain.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      vary: "Accept-Encoding",
    });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const compressed = await call("/assets/main.AAAA.js", { "accept-encoding": "gzip, br" });
    expect(compressed.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(compressed.bytes).toString()).toBe(ENTRY_TEXT);
  });

  test("answer HEAD, and 304 to who has them", async () => {
    await start();
    const head = await call("/assets/main.CCCC.css", {}, "HEAD");
    expect([head.status, head.bytes.length, head.headers["content-length"]]).toEqual([200, 0, "3"]);
    const again = await call("/assets/main.CCCC.css", { "if-none-match": String(head.headers.etag) });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    expect((await call("/assets/main.CCCC.css", { "if-none-match": '"other"' })).status).toBe(200);
  });

  test.each([
    "/assets/main.ZZZZ.js",
    "/assets/",
    "/assets/index.json",
    "/assets/../package.json",
    "/assets/%2e%2e/package.json",
    "/assets/..%2fpackage.json",
    "/assets/main.AAAA.js/",
    "/assets//main.AAAA.js",
    "/assets/main.AAAA.js%00",
    "/assets/main.AAAA.js.gz",
    "/assets/__proto__",
    "/assets/constructor",
  ])("%s is none", async (path) => {
    await start();
    const answer = await call(path, { accept: HTML });
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([404, "route not found"]);
  });
});

test.each([
  ["text/html", true],
  ["application/json, TEXT/HTML; charset=utf-8;q=0.1", true],
  ["text/html;q=0.000", false],
  ["text/*", false],
  ["*/*", false],
  ["application/xhtml+xml", false],
  [undefined, false],
])("%s: a page is wanted: %s", async (accept, wanted) => {
  await start();
  expect(wantsHtml(accept)).toBe(wanted);
});
