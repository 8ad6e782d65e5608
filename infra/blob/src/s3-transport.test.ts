import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { bytes, streamOf } from "./bodies.fixture.ts";
import { createTransport, sendTo } from "./s3-transport.ts";

// MinIO cannot be made to answer like this; S3 does, as its documentation of CompleteMultipartUpload says.
const server = createServer();
afterEach(() => new Promise((resolve) => server.close(resolve)));

test("an error document behind status 200 and white space is a refusal", async () => {
  server.on("request", (request, response) => {
    request.resume();
    response.writeHead(200);
    response.write('<?xml version="1.0" encoding="UTF-8"?>\n');
    response.write(" ".repeat(5_000));
    response.end("<Error><Code>InternalError</Code><Message>Try again.</Message></Error>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const transport = createTransport(false);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const sent = sendTo(transport, "POST", url, streamOf(bytes("<x/>")), { "content-length": 4 });
  await expect(sent).rejects.toMatchObject({ name: "S3AnswerError", code: "InternalError" });
  transport.agent.destroy();
});
