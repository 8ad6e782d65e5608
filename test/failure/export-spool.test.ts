import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { getBytes, LARGE_VALUES, openUnread, writeLargeProject } from "../e2e/kept-exports.fixture.ts";

const PATH = "/api/export?format=ndjson&project=large";
const SMALL = "/api/export?format=ndjson&project=small";

let stack: OwnStack;
beforeAll(async () => {
  // An organization has a quarter of these 32 MiB.
  stack = await startStack("embedded", { settings: { TIDEMARK_EXPORT_SPOOL_MIB: "32" } });
});
afterAll(() => stack.stop());

const files = () => readdir(join(stack.blobDirectory, "..", "exports"));

test("an export beyond the share of its organization breaks off, and takes nothing from others", async () => {
  const { api, key } = await stack.organization();
  const other = await stack.organization();
  await writeLargeProject(api, "large");
  await writeLargeProject(api, "small", 1 / 20);
  await writeLargeProject(other.api, "small", 1 / 20);
  const cut = await getBytes(`${stack.baseUrl}${PATH}`, key).then(
    ({ bytes }) => bytes,
    () => undefined,
  );
  expect(cut).toBeUndefined();
  for (const one of [other.key, key]) {
    const answer = await getBytes(`${stack.baseUrl}${SMALL}`, one);
    expect(answer.bytes.subarray(-500).toString()).toContain(`"points":${LARGE_VALUES / 20},`);
  }
  expect(await files()).toEqual([]);
});

test("a killed process leaves no file behind, and its exports are created again", async () => {
  const { api, key } = await stack.organization();
  await writeLargeProject(api, "small", 1 / 20);
  const url = `${stack.baseUrl}${SMALL}`;
  const whole = await getBytes(url, key);
  const { socket } = await openUnread(url, key);
  await stack.restart("gateway");
  socket.destroy();
  expect(await files()).toEqual([]);
  const again = await getBytes(url, key, { range: "bytes=10-", "if-range": whole.headers["etag"] as string });
  expect(again.status).toBe(200);
  expect(again.headers["etag"]).not.toBe(whole.headers["etag"]);
  expect(again.bytes.subarray(-500).toString()).toContain(`"points":${LARGE_VALUES / 20},`);
});
