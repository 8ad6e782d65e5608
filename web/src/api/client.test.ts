import { afterEach, expect, test } from "@jest/globals";
import { call, holdRequests, onSignedOut, releaseRequests } from "./client.ts";

const usual = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = usual;
  releaseRequests();
});

/** Answers with these statuses, one after the other. Returns the paths that were asked. */
function answerWith(...statuses: readonly number[]): string[] {
  const asked: string[] = [];
  globalThis.fetch = ((path: string) => {
    asked.push(path);
    return Promise.resolve(Response.json({ path }, { status: statuses[asked.length - 1]! }));
  }) as typeof fetch;
  return asked;
}

test("after one refusal all requests wait for the sign-in, except those that sign in", async () => {
  const asked = answerWith(401, 200, 200, 200);
  const end = onSignedOut(holdRequests);
  const answers = call("/write", { body: {} });
  await Promise.resolve();
  const leaving = new AbortController();
  await call("/api/auth/session", { signsIn: true });
  const left = call("/left", { signal: leaving.signal });
  const later = call("/later");
  leaving.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  expect(asked).toEqual(["/write", "/api/auth/session"]);
  releaseRequests();
  expect(await Promise.all([answers, later])).toEqual([{ path: "/write" }, { path: "/later" }]);
  end();
});

test("a request that is refused again after the sign-in fails", async () => {
  const asked = answerWith(401, 401);
  const end = onSignedOut(() => {
    holdRequests();
    if (asked.length === 1) setTimeout(releaseRequests);
  });
  await expect(call("/a")).rejects.toMatchObject({ status: 401 });
  expect(asked).toHaveLength(2);
  end();
});

test("without a page that waits, a refusal is an error", async () => {
  answerWith(401);
  await expect(call("/a")).rejects.toMatchObject({ status: 401 });
});
