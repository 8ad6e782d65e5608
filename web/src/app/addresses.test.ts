import fc from "fast-check";
import { expect, test } from "@jest/globals";
import {
  localAddress,
  matchRoute,
  projectAddress,
  runAddress,
  signInAddress,
  webAddress,
  type Route,
} from "./addresses.ts";

test("names are escaped", () => {
  expect(projectAddress("a/b?c#d é")).toBe("/p/a%2Fb%3Fc%23d%20%C3%A9");
  expect(runAddress("p", "1", "logs")).toBe("/p/p/r/1/logs");
});

test("signing in leads back, and not to itself", () => {
  expect(signInAddress("/p/a?q=x y")).toBe("/signin?next=%2Fp%2Fa%3Fq%3Dx%20y");
  expect(signInAddress("/")).toBe("/signin");
});

test.each(["/p/a?q=1#x", "/", "/settings/keys"])("%s is an address of the dashboard", (next) => {
  expect(localAddress(next)).toBe(next);
});

test.each([
  null,
  "",
  "p/a",
  "//evil.test/x",
  "/\\evil.test",
  "\\\\evil.test",
  "https://evil.test",
  "javascript:alert(1)",
  "/\t/evil.test",
  "/\n/evil.test",
  "/..//evil.test",
])("%j leads to the first page", (next) => {
  expect(localAddress(next)).toBe("/");
});

test.each<[string, Route]>([
  ["/", { page: "projects" }],
  ["/signin", { page: "signin" }],
  ["/auth/device", { page: "device" }],
  ["/invite", { page: "invite" }],
  ["/p/a%2Fb", { page: "project", project: "a/b" }],
  ["/p/a/", { page: "project", project: "a" }],
  ["/p/a/compare", { page: "compare", project: "a" }],
  ["/p/a/media", { page: "media", project: "a" }],
  ["/p/a/traces", { page: "traces", project: "a" }],
  ["/p/a/artifacts", { page: "artifacts", project: "a" }],
  ["/p/a/reports", { page: "reports", project: "a" }],
  ["/p/a/r/1", { page: "run", project: "a", runId: "1", tab: "charts" }],
  ["/p/a/r/1/logs", { page: "run", project: "a", runId: "1", tab: "logs" }],
  ["/reports/1", { page: "report", reportId: "1" }],
  ["/r/t", { page: "shared-report", token: "t" }],
  ["/settings", { page: "settings", section: "" }],
  ["/settings/keys", { page: "settings", section: "keys" }],
])("%s", (path, route) => {
  expect(matchRoute(path)).toEqual(route);
});

test.each([
  "/x",
  "/p",
  "/p/%ff",
  "/p/a/b",
  "/p/a/r",
  "/p/a/r/1/x",
  "/p/a/r/1/logs/x",
  "/reports",
  "/settings/a/b",
  "/auth",
])("%s is not a page", (path) => {
  expect(matchRoute(path)).toEqual({ page: "missing" });
});

test.each([".", "..", "~.", "~..", "~~.", "~a", "...", "%2e"])(
  "a project named %s has an address of its own",
  (project) => {
    const path = runAddress(project, "1");
    expect(matchRoute(path)).toEqual({ page: "run", project, runId: "1", tab: "charts" });
    // As browsers read it.
    expect(new URL(path, "http://a.test").pathname).toBe(path);
  },
);

test("the address of a project with any name leads to it", () => {
  const name = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(name, name, (project, runId) => {
      expect(matchRoute(runAddress(project, runId))).toEqual({ page: "run", project, runId, tab: "charts" });
    }),
  );
});

test.each([
  ["https://example.test/a", "https://example.test/a"],
  ["mailto:a@example.test", "mailto:a@example.test"],
  ["javascript:alert(1)", undefined],
  [" JAVASCRIPT:alert(1)", undefined],
  ["data:text/html,x", undefined],
  ["https://user:secret@example.test/", undefined],
  ["just text", undefined],
])("%s leads to %s", (text, address) => expect(webAddress(text)).toBe(address));
