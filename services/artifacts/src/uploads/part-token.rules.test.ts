import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { readPartToken, signPart } from "./part-token.rules.ts";

const secret = randomBytes(32);
const part = {
  orgId: randomUUID(),
  sessionId: randomUUID(),
  fileId: randomUUID(),
  partNumber: 9999,
  expiresAt: 1_800_000_000,
  callerKind: 1,
  credentialId: "0aZ0aZ0aZ0aZ",
};

test("a token says which part may be sent, and until when", () => {
  const token = signPart(secret, part);
  expect(token).toMatch(/^tm_upload_[\w-]{100,200}$/);
  expect(readPartToken(secret, token)).toEqual(part);
});

test("a token of another installation is none", () => {
  expect(readPartToken(randomBytes(32), signPart(secret, part))).toBeUndefined();
});

test("every changed character makes it another", () => {
  const token = signPart(secret, part);
  for (let i = 0; i < token.length; i += 1) {
    const changed = token.slice(0, i) + (token[i] === "A" ? "B" : "A") + token.slice(i + 1);
    // The last character of base64url carries bits that are not used.
    const read = readPartToken(secret, changed);
    if (i < token.length - 1) expect(read).toBeUndefined();
    else expect(read === undefined || read.partNumber === part.partNumber).toBe(true);
  }
});

test.each(["", "tm_upload_", "tm_upload_AAAA", "../../etc/passwd", "tm_upload_\0", `tm_upload_${"A".repeat(10_000)}`])(
  "%j is none",
  (text) => expect(readPartToken(secret, text)).toBeUndefined(),
);
