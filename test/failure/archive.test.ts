import { expect, test } from "@jest/globals";
import { requireServers } from "@tidemark/testkit";
import { request } from "undici";
import { LARGE_VALUES, writeLargeProject } from "../e2e/kept-exports.fixture.ts";
import { describeWith } from "../stack/describe-with.ts";
import { startStack } from "../stack/stack.ts";

const servers = await requireServers(["nats-server", "minio"]);

/** Reads a body until it ends or breaks. */
async function readOn(first: string, body: AsyncIterator<Buffer>): Promise<{ text: string; hasBroken: boolean }> {
  let text = first;
  try {
    for (let next = await body.next(); next.done !== true; next = await body.next()) text += next.value.toString();
    return { text, hasBroken: false };
  } catch {
    return { text, hasBroken: true };
  }
}

describeWith(servers)("a complete export", () => {
  test.each(["ingest-read", "imports-export"])(
    "breaks off without its last line when %s is killed, and is whole afterwards",
    async (module) => {
      const stack = await startStack("split");
      try {
        const { api, key } = await stack.organization();
        await writeLargeProject(api, "large");
        const path = "/api/export?format=ndjson&project=large";
        const { statusCode, body } = await request(`${stack.baseUrl}${path}`, {
          headers: { authorization: `Bearer ${key}` },
        });
        expect(statusCode).toBe(200);
        const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
        const first = (await pieces.next()).value as Buffer;
        await stack.restart(module);
        const torn = await readOn(first.toString(), pieces);
        expect(torn.hasBroken).toBe(true);
        expect(torn.text).not.toContain('"type":"end"');
        const whole = await api.get(path);
        expect(whole.status).toBe(200);
        expect(whole.text.slice(-500)).toContain(`"points":${LARGE_VALUES},`);
        expect(whole.text.length).toBeGreaterThan(torn.text.length);
      } finally {
        await stack.stop();
      }
    },
    300_000,
  );
});
