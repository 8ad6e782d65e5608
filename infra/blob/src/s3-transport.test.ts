import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { bytes, streamOf } from "./bodies.fixture.ts";
import { createTransport, sendTo } from "./s3-transport.ts";

// MinIO cannot be made to answer like this; S3 does, as its documentation of CompleteMultipartUpload says.
const server = createServer();
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function answerTo(
  method: "PUT" | "POST",
  status: number,
  ...texts: readonly string[]
): ReturnType<typeof sendTo> {
  server.removeAllListeners("request").on("request", (request, response) => {
    request.resume();
    response.writeHead(status, { etag: '"ab"' });
    for (const text of texts) response.write(text);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const transport = createTransport(false);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    return await sendTo(transport, method, url, streamOf(bytes("<x/>")), { "content-length": 4 });
  } finally {
    transport.agent.destroy();
  }
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
const error = "<Error><Code>InternalError</Code><Message>Try again.</Message></Error>";

test.each([
  [
    "an error document behind status 200 and white space",
    200,
    [declaration, " ".repeat(5_000), error],
    "InternalError",
  ],
  ["an error document", 503, [declaration, error], "InternalError"],
  ["a part of a result", 200, [declaration, "<CompleteMultipartUploadResult><Bucket>b</Buck"], "unknown"],
  ["a page of a proxy", 200, ["<!doctype html><p>Welcome</html>"], "unknown"],
  ["a page of a proxy with an error", 502, ["Bad gateway"], "unknown"],
  ["an error without a document", 403, [], "unknown"],
])("%s is a refusal", async (_, status, texts, code) => {
  await expect(answerTo("POST", status, ...texts)).rejects.toMatchObject({ name: "S3AnswerError", code });
});

test.each([
  ["no document", []],
  ["a result", [declaration, "<CompleteMultipartUploadResult/>"]],
])("%s behind status 200 is a success", async (_, texts) => {
  expect(await answerTo("PUT", 200, ...texts)).toMatchObject({ etag: '"ab"' });
});
