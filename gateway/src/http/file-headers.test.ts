import { expect, test } from "@jest/globals";
import { fileHeaders } from "./file-headers.ts";

const headersOf = (name: string, mimeType = "text/plain") => fileHeaders({ name, mimeType });

test.each([
  ["policy.pt", "policy.pt"],
  ["a/b/c.txt", "c.txt"],
  ["a\\b\\c.txt", "c.txt"],
  ['x".txt', "x_.txt"],
  ["a\r\nSet-Cookie: b=1", "a__Set-Cookie__b_1"],
  ["naïve 😀.txt", "na_ve__.txt"],
  ["%2e%2e", "_2e_2e"],
  ["a;b=c", "a_b_c"],
  ["..", "download"],
  [".", "download"],
  ["dir/", "download"],
  ["", "download"],
  ["\ud800", "_"],
  [`${"x".repeat(200)}.txt`, "x".repeat(120)],
])("the name %j", (name, safe) => {
  expect(headersOf(name)["content-disposition"]!.split("; filename*=")[0]).toBe(`attachment; filename="${safe}"`);
});

test.each([
  ["plain (1).txt", undefined],
  ["a\0b", undefined],
  ["\u202egnp.exe", undefined],
  ["dir/naïve 😀.txt", "na%C3%AFve%20%F0%9F%98%80.txt"],
  ["é'(x)*.txt", "%C3%A9%27%28x%29_.txt"],
  ["ü\r\nx: y\u2066", "%C3%BC__x_%20y_"],
  ["\ud800", "%EF%BF%BD"],
  [`${"é".repeat(200)}.txt`, "%C3%A9".repeat(120)],
])("the name %j is there as it is where it is not ASCII", (name, extended) => {
  expect(headersOf(name)["content-disposition"]!.split("; filename*=UTF-8''")[1]).toBe(extended);
});

test.each([
  "text/html",
  "Text/HTML; charset=utf-8",
  "application/xhtml+xml",
  "image/svg+xml",
  "text/xml",
  "application/xml",
  "text/css",
  "text/javascript",
  "text/javascript1.5",
  "application/javascript",
  "application/x-javascript",
  "text/ecmascript",
])("the type %s, which a browser runs, becomes bytes", (type) => {
  expect(headersOf("a", type)["content-type"]).toBe("application/octet-stream");
});

test.each([
  "text/plain; charset=utf-8",
  "image/png",
  'multipart/x; boundary="a b"',
  "application/vnd.a+json;v=1 ; w=2",
])("the type %s stays", (type) => {
  expect(headersOf("a", type)["content-type"]).toBe(type);
});

test.each([
  "",
  "text",
  "text/",
  "/html",
  "text/html\r\nx: y",
  "text/html; charset",
  "tëxt/html",
  "a b/c",
  "text/html;",
  `a/${"b".repeat(300)}`,
  'a/b; c="\n"',
])("the type %j is unknown", (type) => {
  expect(headersOf("a", type)["content-type"]).toBe("application/octet-stream");
});

test.each([
  ["image/svg+xml", "image", "image/svg+xml"],
  ["image/svg+xml", "document", "application/octet-stream"],
  ["image/svg+xml", "iframe", "application/octet-stream"],
  ["text/html", "image", "application/octet-stream"],
  ["text/javascript", "script", "application/octet-stream"],
])("the type %s, loaded as %s, is %s", (mimeType, destination, expected) => {
  expect(fileHeaders({ name: "a", mimeType }, { "sec-fetch-dest": destination })["content-type"]).toBe(expected);
});

test("no file runs as a page", () => {
  expect(headersOf("a")).toMatchObject({
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "accept-ranges": "bytes",
  });
});
