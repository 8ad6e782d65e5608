import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  credentialKinds,
  equalHashes,
  hashCredential,
  issueCredential,
  keyPrefixLength,
  parseCredential,
  type CredentialKind,
} from "./index.ts";

const kinds = Object.keys(credentialKinds) as CredentialKind[];

test("an API key from known bytes has a known text", () => {
  const key = issueCredential("api_key", (count) => new Uint8Array(count).fill(61));
  expect(key.text).toBe(`tm_zzzzzzzzzzzz_${"z".repeat(32)}_0vpt0H`);
  expect(Buffer.from(key.hash).toString("hex")).toBe(
    "87a53d59afa1cd556d28b76b69613b45b52500209d72eeb1d400c71baf65e2a7",
  );
});

describe.each(kinds)("a credential of kind %s", (kind) => {
  const issued = issueCredential(kind, randomBytes);

  test("is read back with its kind, id and hash", () => {
    expect(parseCredential(issued.text)).toEqual({ kind, id: issued.id, hash: issued.hash });
  });

  test("starts with tm_ and shows nothing of its secret in the first 14 characters", () => {
    expect(issued.text.startsWith("tm_")).toBe(true);
    expect(issued.text.indexOf(issued.id) + issued.id.length + 1).toBeGreaterThan(keyPrefixLength);
  });

  test("is refused when any single character differs", () => {
    fc.assert(
      fc.property(
        fc.nat(issued.text.length - 1),
        fc.constantFrom("0", "9", "A", "Z", "a", "z", "_", "-"),
        (at, character) => {
          fc.pre(issued.text[at] !== character);
          const mistyped = `${issued.text.slice(0, at)}${character}${issued.text.slice(at + 1)}`;
          expect(parseCredential(mistyped)).toBeUndefined();
        },
      ),
    );
  });
});

test.each([
  ["an empty text", ""],
  ["a text of another product", `sk_${"a".repeat(40)}`],
  ["an unknown kind", issueCredential("session", randomBytes).text.replace("session", "cookies")],
  ["a line break at the end", `${issueCredential("api_key", randomBytes).text}\n`],
  ["a key without its checksum", issueCredential("api_key", randomBytes).text.slice(0, -7)],
])("%s is not a credential", (_, text) => expect(parseCredential(text)).toBeUndefined());

test("bytes that would favor some digits are not used", () => {
  const bytes = [248, 255, 0, 62, 247, 61];
  let at = 0;
  const key = issueCredential("api_key", (count) =>
    Uint8Array.from({ length: count }, () => bytes[at++ % bytes.length] ?? 0),
  );
  expect(key.id).toBe("00zz00zz00zz");
});

test("hashes are equal only when all bytes are", () => {
  const hash = hashCredential("a");
  expect(equalHashes(hash, hashCredential("a"))).toBe(true);
  expect(equalHashes(hash, hashCredential("b"))).toBe(false);
  expect(equalHashes(hash, hash.subarray(1))).toBe(false);
});
