import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { AppError, badRequest, notFound } from "@tidemark/errors";
import { allRoutes } from "../api/index.ts";
import { PAGE_TYPE, type Page } from "../http/page.ts";
import type { Route } from "../route.ts";
import { startApp, type TestApp } from "../app.fixture.ts";

// What every page of the gateway must do, on any route.

const ID = "0a1b2c3d-0000-4000-8000-000000000001";
const page: Page = { title: "t", style: "p{}", body: "<p>1</p>" };

let answer: () => Promise<Page>;
const pages: readonly Route[] = allRoutes
  .filter(({ schemas }) => schemas.responseType === PAGE_TYPE)
  .map((route) => ({ ...route, handle: async () => ({ body: null, page: await answer() }) }));

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ routes: pages });
});
afterAll(() => app.close());

async function get(path: string, query = "") {
  const response = await fetch(`${app.url}${path.replaceAll(/\{\w+\}/g, ID)}${query}`, {
    headers: { accept: "text/html" },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("there are pages", () => expect(pages.map(({ path }) => path)).toContain("/embed/runs/{session_id}"));

test("HTML is written in one place", () => {
  const root = join(import.meta.dirname, "..");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const writers = files.filter((file) => readFileSync(join(root, file), "utf8").includes('"text/html'));
  // The second one names files that clients upload, which are sent as attachments.
  expect(writers.toSorted()).toEqual(["api/artifacts/media-types.ts", "http/page.ts"]);
  // The dashboard's pages load files, the others are self-contained.
  const documents = files.filter((file) => readFileSync(join(root, file), "utf8").includes("<!doctype html>"));
  expect(documents.toSorted()).toEqual(["dashboard/dashboard.ts", "http/page.ts"]);
});

describe.each(pages.map(({ path }) => path))("%s", (path) => {
  test.each<[string, number, () => Promise<Page>]>([
    ["a page", 200, () => Promise.resolve(page)],
    ["a missing row", 404, () => Promise.reject(notFound("it"))],
    ["a refusal", 403, () => Promise.reject(new AppError("forbidden", "no"))],
    ["a limit", 429, () => Promise.reject(new AppError("rate_limit_exceeded", "wait", { retryAfterSeconds: 7 }))],
    ["a dependency that is down", 503, () => Promise.reject(new AppError("service_unavailable", "down"))],
    ["a defect", 500, () => Promise.reject(new Error("secret"))],
  ])("%s (%i) is HTML that no site may show in a frame", async (_, status, answered) => {
    answer = answered;
    const shown = await get(path);
    expect(shown.status).toBe(status);
    expect(shown.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(shown.headers.get("content-security-policy")).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(shown.headers.get("x-frame-options")).toBe("DENY");
    expect(shown.headers.get("x-content-type-options")).toBe("nosniff");
    expect(shown.headers.get("referrer-policy")).toBe("no-referrer");
    expect(shown.headers.get("cache-control")).toBe("private, no-store");
    expect(shown.headers.get("retry-after")).toBe(status === 429 ? "7" : status === 503 ? "1" : null);
    expect(shown.text).not.toContain("secret");
  });

  test("the client's input is text in the page about its error", async () => {
    answer = () => Promise.reject(badRequest("<img onerror=alert(1)> is wrong"));
    const named = await get(path, "?%3Cb%3E=1&%3Cb%3E=2");
    expect(named.text).toContain("The parameter &#60;b&#62; is given twice.");
    expect((await get(path)).text).toContain("&#60;img onerror=alert(1)&#62; is wrong.");
  });
});
