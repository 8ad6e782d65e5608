import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { hidePrivateUris } from "./private-uris.rules.ts";

const ORG = "0b9c2f4e-1111-4222-8333-444455556666";
const OBJECT = "7d3c2f4e-1111-4222-8333-444455556666";
const ARTIFACT = "9a3c2f4e-1111-4222-8333-444455556666";
const key = `o/${ORG}/${OBJECT}`;

const hidden = (json: string, artifactId = ARTIFACT): string =>
  Buffer.from(hidePrivateUris(Buffer.from(json), ORG, artifactId)).toString();

describe("a text that names an object of the store", () => {
  test.each([
    key,
    `/var/lib/tidemark/blobs/${key}`,
    `s3://bucket/${key}`,
    `https://minio:9000/bucket/${key}?X-Amz-Signature=abc`,
    `file:///data/${key}/part-1`,
    `a "quoted" path\\${key}`,
  ])("%s becomes the address of the artifact", (uri) => {
    const json = JSON.stringify({ before: 1.5, uri, list: [uri, "x"] });
    const shown = {
      before: 1.5,
      uri: `instantml://artifacts/${ARTIFACT}`,
      list: [`instantml://artifacts/${ARTIFACT}`, "x"],
    };
    expect(JSON.parse(hidden(json))).toEqual(shown);
  });

  test("is left out where no artifact is known", () => {
    expect(hidden(JSON.stringify(key), "")).toBe('"[REDACTED]"');
  });
});

test.each([
  `"o/${ORG}/"`,
  `"o/${ORG}/readme.txt"`,
  `"o/${OBJECT}/${OBJECT}"`,
  `"foo/${ORG}/${OBJECT}"`,
  `{"${key}": 12345678901234567890}`,
  "1.50",
  "null",
])("%s stays as it is", (json) => expect(hidden(json)).toBe(json));

test("everything else of a document keeps its bytes", () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (before, after) => {
      const json = `[${before},${JSON.stringify(key)},${after}]`;
      expect(hidden(json)).toBe(`[${before},"instantml://artifacts/${ARTIFACT}",${after}]`);
    }),
  );
});
