import { describe, expect, test } from "@jest/globals";
import { isSecretKey, redactText } from "./clean-body.rules.ts";

describe("keys", () => {
  test.each([
    "token",
    "API_KEY",
    "api-key",
    "apiKey".toLowerCase(),
    "Client Secret",
    "hf_token",
    "OPENAI_API_KEY",
    "db-password",
    "_private_key_",
    "authorization",
  ])("%s names a secret", (key) => expect(isSecretKey(key)).toBe(true));

  test.each(["tokens", "max_tokens", "tokenizer", "secretary", "key", "passwords_tried", "token_count", ""])(
    "%j does not",
    (key) => expect(isSecretKey(key)).toBe(false),
  );
});

describe("texts", () => {
  const signed = "https://b.s3.aws/k?X-Amz-Signature=abc&part=1&sig=xyz";
  test.each([
    ["a bearer token", "Authorization: Bearer abcdefghijklmnop", "Authorization: [REDACTED]"],
    ["a bearer token behind a tab", "Bearer\tabcdefghijklmnop", "[REDACTED]"],
    ["a query", "https://h/?api_key=123&x=1", "https://h/?[REDACTED]&x=1"],
    ["an AWS id", "id AKIAABCDEFGHIJKLMNOP.", "id [REDACTED]."],
    ["a key of InstantML", "instantml_abcdefgh1234", "[REDACTED]"],
    ["a key of Tidemark", "use tm_abcdefghijkl_secret_crc now", "use [REDACTED] now"],
    ["a password in a URL", "postgres://me:hunter2@db/x", "postgres://me:[REDACTED]@db/x"],
    ["a signed URL", signed, "https://b.s3.aws/k?X-Amz-Signature=[REDACTED]&part=1&sig=[REDACTED]"],
    ["a private key", "a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b", "a [REDACTED] b"],
    ["a private key that is cut", "a -----BEGIN PRIVATE KEY-----\nMII", "a [REDACTED]"],
  ])("%s is removed", (_name, text, expected) => expect(redactText(text)).toBe(expected));

  test.each(["atm_machine1234567", "a bearer of news", "https://h/x?y=1", "lr=0.1 tokens=5", "user@host", "", "x:y@z"])(
    "%j stays",
    (text) => expect(redactText(text)).toBe(text),
  );
});
