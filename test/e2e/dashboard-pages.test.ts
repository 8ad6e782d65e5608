import { expect, test } from "@jest/globals";
import { describeModes } from "../stack/modes.ts";
import { withDashboard } from "../stack/settings.ts";

const HTML = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";

describeModes(
  "the pages of the dashboard",
  (stack) => {
    const get = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${stack().baseUrl}${path}`, { headers, redirect: "manual" });

    test.each([
      "/",
      "/signin",
      "/auth/device?code=ABCD-EFGH",
      "/invite",
      "/p/a",
      "/reports/x",
      "/r/x",
      "/settings/keys",
    ])("%s is a page for a browser and an unknown path for a program", async (path) => {
      const page = await get(path, { accept: HTML });
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      const json = await get(path, { accept: "application/json" });
      expect([json.status, await json.json()]).toEqual([404, { error: "route not found" }]);
    });

    test("all that a page names is there, and never changes", async () => {
      const text = await (await get("/p/a", { accept: HTML })).text();
      const names = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, name]) => name!);
      expect(names.length).toBeGreaterThanOrEqual(4);
      for (const name of names) {
        const asset = await get(name);
        expect([name, asset.status, asset.headers.get("cache-control")]).toEqual([
          name,
          200,
          "public, max-age=31536000, immutable",
        ]);
      }
    });

    test.each(["/projects", "/runs", "/health", "/openapi.json", "/metrics"])(
      "%s stays a route of the API, for any Accept header",
      async (path) => {
        const answer = await get(path, { accept: HTML });
        expect(answer.headers.get("content-type")).not.toContain("text/html");
      },
    );
  },
  await withDashboard(),
);
