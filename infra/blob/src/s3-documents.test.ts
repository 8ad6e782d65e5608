import { describe, expect, test } from "@jest/globals";
import { errorCode, readDocument, readPartsPage } from "./s3-documents.ts";

const page = (content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</ListPartsResult>`;
const part = (fields: { number?: string; etag?: string; size?: string } = {}): string =>
  `<Part><PartNumber>${fields.number ?? "1"}</PartNumber><ETag>${fields.etag ?? "&quot;ab&quot;"}</ETag><Size>${fields.size ?? "5"}</Size></Part>`;

describe("a list of parts", () => {
  test("has the parts in their order, with ETags without quotes", async () => {
    const text = page(`<IsTruncated>false</IsTruncated>${part()}${part({ number: "2", etag: "&#34;cd-2&#34;" })}`);
    expect(await readPartsPage(text)).toEqual({
      parts: [
        { partNumber: 1, etag: "ab", sizeBytes: 5 },
        { partNumber: 2, etag: "cd-2", sizeBytes: 5 },
      ],
      marker: undefined,
    });
  });

  test("may be empty, and may go on", async () => {
    expect(await readPartsPage(page(""))).toEqual({ parts: [], marker: undefined });
    const text = page(`<IsTruncated>true</IsTruncated><NextPartNumberMarker>7</NextPartNumberMarker>${part()}`);
    expect(await readPartsPage(text)).toMatchObject({ parts: [{ partNumber: 1 }], marker: "7" });
  });

  test("keeps a text that looks like a number", async () => {
    expect((await readPartsPage(page(part({ etag: "0e10" })))).parts[0]?.etag).toBe("0e10");
  });

  test.each([
    ["nothing", ""],
    ["a text", "<Part>1</Part> was expected"],
    ["a page of a proxy", "<!doctype html><html><p>Bad gateway</html>"],
    ["a part of a document", page(part()).slice(0, -20)],
    ["another document", "<ListBucketResult></ListBucketResult>"],
    ["a part without fields", page("<Part/>")],
    ["a number that is none", page(part({ number: "one" }))],
    ["a size below zero", page(part({ size: "-5" }))],
    ["an ETag that is empty", page(part({ etag: "" }))],
    ["more pages without a marker", page(`<IsTruncated>true</IsTruncated>${part()}`)],
  ])("is refused if it is %s", async (_, text) => {
    await expect(readPartsPage(text)).rejects.toThrow("cannot be read");
  });
});

describe("an error document", () => {
  test.each([
    ["its code", "<Error><Code>NoSuchUpload</Code><Message>gone</Message></Error>", "NoSuchUpload"],
    ["its code behind a prefix", '<s3:Error xmlns:s3="x"><s3:Code>SlowDown</s3:Code></s3:Error>', "SlowDown"],
    ["unknown without a code", "<Error/>", "unknown"],
    ["unknown for a code that is none", "<Error><Code>a b</Code></Error>", "unknown"],
    ["nothing for another document", "<Result><Error/></Result>", undefined],
  ])("has %s", async (_, text, code) => {
    expect(errorCode((await readDocument(text))!)).toBe(code);
  });
});
