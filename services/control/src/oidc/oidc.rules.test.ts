import { describe, expect, test } from "@jest/globals";
import { isAppError } from "@tidemark/errors";
import {
  readClaims,
  isOwnPath,
  readLoginSecret,
  writeLoginSecret,
  oidcFaults,
  oidcSettingsOf,
  type OidcConfig,
} from "./oidc.rules.ts";

const key = { issuer: "https://accounts.test", subject: "1" };
const anyone = { domains: [], trustsEmail: false };

describe("the claims of a provider about a person", () => {
  test("become a person: the address in lower case, names and pictures as far as they are some", () => {
    const claims = {
      ...key,
      email: " Ada@Example.test",
      email_verified: true,
      name: " Ada ",
      picture: "https://x.test/a.png",
    };
    expect(readClaims(claims, anyone)).toEqual({
      ...key,
      email: "ada@example.test",
      displayName: "Ada",
      avatarUrl: "https://x.test/a.png",
    });
    const odd = { ...claims, name: 7, picture: "javascript:alert(1)" };
    expect(readClaims(odd, anyone)).toMatchObject({ displayName: "", avatarUrl: "" });
    expect(readClaims({ ...claims, picture: "no url", name: "x".repeat(1000) }, anyone)).toMatchObject({
      displayName: "x".repeat(200),
      avatarUrl: "",
    });
  });

  test.each([
    ["true", { email_verified: true }, false, true],
    ["a text that says so", { email_verified: "true" }, false, true],
    ["false", { email_verified: false }, false, false],
    ["nothing", {}, false, false],
    ["nothing, where addresses are trusted", {}, true, true],
    ["1", { email_verified: 1 }, false, false],
  ])("about the address counts: %s", (_, claims, trustsEmail, isLetIn) => {
    const read = () => readClaims({ ...key, email: "a@b.test", ...claims }, { domains: [], trustsEmail });
    if (isLetIn) expect(read()).toMatchObject({ email: "a@b.test" });
    else expect(read).toThrow("has not verified");
  });

  test.each([
    ["a@b.test", true],
    ["a@B.TEST", true],
    ["a@c.b.test", false],
    ["a@evilb.test", false],
    ["b.test@elsewhere.test", false],
  ])("is let in by its domain: %s", (email, isLetIn) => {
    const read = () => readClaims({ ...key, email, email_verified: true }, { domains: ["b.test"], trustsEmail: false });
    if (isLetIn) expect(read()).toBeTruthy();
    else expect(read).toThrow("of this domain");
  });

  test.each([[undefined], [""], [5], ["no address"]])("is refused without a usable address: %p", (email) => {
    let refusal: unknown;
    try {
      readClaims({ ...key, email, email_verified: true }, anyone);
    } catch (error) {
      refusal = error;
    }
    expect(isAppError(refusal) && refusal.reason).toBe("forbidden");
  });
});

describe("the secret that a browser keeps during a sign-in", () => {
  const secret = { state: "s", nonce: "n", verifier: "v", orgId: "o", returnTo: "/a?b=1#c" };

  test("is read as it was written, and is fit for a cookie", () => {
    const text = writeLoginSecret(secret);
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(readLoginSecret(text)).toEqual(secret);
  });

  test.each([
    ["", "x", "e30", "bnVsbA"],
    [JSON.stringify(["", "n", "v", "", ""]), JSON.stringify(["s", "n", "v", ""]), JSON.stringify([1, 2, 3, 4, 5])].map(
      (text) => Buffer.from(text).toString("base64url"),
    ),
  ])("is nothing when it is anything else", (...texts) => {
    for (const text of texts) expect(readLoginSecret(text)).toBeUndefined();
  });

  test("never leads to another site, whoever wrote it", () => {
    const planted = writeLoginSecret({ ...secret, returnTo: "//evil.test" });
    expect(readLoginSecret(planted)?.returnTo).toBe("");
  });

  test.each([
    ["/", true],
    ["/a/b?c=d#e", true],
    ["", false],
    ["a", false],
    ["//a", false],
    ["/\\a", false],
    ["/a\\b", false],
    ["https://a", false],
    ["/a\r\nset-cookie: x", false],
    ["/é", false],
    [`/${"a".repeat(1023)}`, true],
    [`/${"a".repeat(1024)}`, false],
  ])("a path on this site: %j %p", (path, expected) => expect(isOwnPath(path)).toBe(expected));
});

describe("the settings of a provider", () => {
  const none: OidcConfig = {
    oidcIssuer: undefined,
    oidcClientId: undefined,
    oidcClientSecret: undefined,
    oidcDomains: [],
    oidcTrustEmail: false,
  };
  const whole = { ...none, oidcIssuer: "https://accounts.test", oidcClientId: "c" };

  test.each([
    ["nothing", none, 0],
    ["an issuer and a client", whole, 0],
    ["an issuer on this machine without TLS", { ...whole, oidcIssuer: "http://127.0.0.1:9/x" }, 0],
    ["a client without an issuer", { ...none, oidcClientId: "c" }, 1],
    ["an issuer without a client", { ...whole, oidcClientId: undefined }, 1],
    ["an issuer elsewhere without TLS", { ...whole, oidcIssuer: "http://accounts.test" }, 1],
    ["two faults together", { ...none, oidcIssuer: "http://accounts.test" }, 2],
  ])("%s", (_, config, faults) => expect(oidcFaults(config)).toHaveLength(faults));

  test("are none where no issuer is set, and have domains in lower case", () => {
    expect(oidcSettingsOf(none)).toBeUndefined();
    expect(oidcSettingsOf({ ...whole, oidcDomains: ["B.test"] })?.admission).toEqual({
      domains: ["b.test"],
      trustsEmail: false,
    });
  });
});
