import { createServer, type AddressInfo, type Server } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { parseAnswer, rawRequest } from "../http/raw-request.fixture.ts";
import { answerClientError } from "./closing.ts";

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

async function answerTo(code: string, answering?: { headersSent: boolean }): Promise<string> {
  server = createServer((socket) => {
    socket.once("data", () => answerClientError({ code }, Object.assign(socket, { _httpMessage: answering })));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return rawRequest((server.address() as AddressInfo).port, "x");
}

test.each([
  ["ERR_HTTP_REQUEST_TIMEOUT", 408, "the request took too long to arrive"],
  ["HPE_HEADER_OVERFLOW", 431, "the request headers are too large"],
  ["HPE_INVALID_METHOD", 400, "the request is not valid HTTP"],
])("%s is answered with %i", async (code, status, error) => {
  const answer = parseAnswer(await answerTo(code));
  expect([answer.status, answer.body]).toEqual([status, { error }]);
  expect(answer.head).toContain("content-type: application/json");
});

test("an answer that has not begun gives way to the refusal", async () => {
  expect(parseAnswer(await answerTo("HPE_INVALID_CHUNK_SIZE", { headersSent: false })).status).toBe(400);
});

test.each([
  ["after an answer that has begun", "HPE_INVALID_CHUNK_SIZE", { headersSent: true }],
  ["to a client that is gone", "ECONNRESET", undefined],
])("nothing is written %s", async (_, code, answering) => {
  expect(await answerTo(code, answering)).toBe("");
});
