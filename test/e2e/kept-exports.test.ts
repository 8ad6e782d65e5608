import { once } from "node:events";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { describeModes } from "../stack/modes.ts";
import { asOperator, signIn } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";
import { getBytes, LARGE_VALUES, openUnread, sha256, writeLargeProject, type Unread } from "./kept-exports.fixture.ts";

// Exports are written to disk as fast as the database has them, and clients read them from there.

const LARGE = "/api/export?format=ndjson&project=large";
/** Exports of one caller at the same time. */
const CALLER_EXPORTS = 16;

describeModes("exports that are kept", (stack) => {
  const keyOf = async (orgId: string) => {
    const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, { name: "k" }, asOperator(stack()));
    const revoke = async (): Promise<void> => {
      const path = `/api/orgs/${orgId}/api-keys/${made.json.key.id}/revoke`;
      expect((await stack().api.post(path, {}, asOperator(stack()))).status).toBe(200);
    };
    return { key: made.json.api_key as string, revoke };
  };
  const url = (path: string): string => `${stack().baseUrl}${path}`;
  const closeAll = (all: readonly Unread[]): void => {
    for (const { socket } of all) socket.destroy();
  };

  describe("and not read", () => {
    let large: Awaited<ReturnType<ReturnType<typeof stack>["organization"]>>;
    beforeAll(async () => {
      large = await stack().organization();
      await writeLargeProject(large.api, "large");
    });

    test("stop neither another organization nor another caller, and are bounded for their own", async () => {
      const other = await stack().organization();
      await writeLargeProject(other.api, "large", 1 / 8);
      const unread: Unread[] = [];
      // On a busy machine one may wait too long for its place at the database.
      const openOne = async (): Promise<Unread | undefined> => {
        const one = await openUnread(url(LARGE), large.key);
        if (one.status === 200) return one;
        one.socket.destroy();
        return undefined;
      };
      for (let i = 0; i < CALLER_EXPORTS; i += 1) unread.push(await until("room for an export", openOne));
      const refused = await large.api.get(LARGE);
      expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "10"]);
      expect(refused.json).toEqual({
        error: `a caller may have ${CALLER_EXPORTS} exports at the same time; read or end one of them`,
        code: "rate_limit_exceeded",
      });
      const [foreign, colleague] = await Promise.all([
        other.api.get(LARGE),
        keyOf(large.orgId).then(({ key }) =>
          until("an export of a colleague", async () => {
            const answer = await large.api.as(key).get(LARGE);
            return answer.status === 200 ? answer : undefined;
          }),
        ),
      ]);
      expect(foreign.text.slice(-500)).toContain(`"points":${LARGE_VALUES / 8},`);
      expect(colleague.text.slice(-500)).toContain(`"points":${LARGE_VALUES},`);
      expect(unread.map(({ socket }) => socket.destroyed)).toEqual(unread.map(() => false));
      closeAll(unread);
      await until("a place is free", async () => (await large.api.get(`${LARGE}`)).status === 200);
    });

    test("keep no transaction open", async () => {
      const unread = await openUnread(url(LARGE), large.key);
      const openOnes = () =>
        queryDatabase<{ application_name: string }>(
          stack(),
          `SELECT application_name FROM pg_stat_activity
             WHERE datname = current_database() AND application_name LIKE 'tidemark-%' AND xact_start IS NOT NULL
               AND state LIKE 'idle in transaction%' AND xact_start < now() - interval '1 second'`,
        );
      // As long as the database may need, and less than the minute after which it would end unread exports.
      let looks = 0;
      const isCalm = async (): Promise<boolean> => {
        looks = (await openOnes()).length === 0 ? looks + 1 : 0;
        await new Promise((resolve) => setTimeout(resolve, 300));
        return looks === 10;
      };
      await until("no transaction is open for three seconds", isCalm, 40_000);
      expect(unread.socket.destroyed).toBe(false);
      closeAll([unread]);
    });

    test("end within ten seconds when their caller loses its rights, for later requests too", async () => {
      const { key, revoke } = await keyOf(large.orgId);
      const unread = await openUnread(url(LARGE), key);
      const [, tag] = /\r\netag: (\S+)/i.exec(unread.head)!;
      await revoke();
      const started = performance.now();
      let read = 0;
      unread.socket.on("data", (bytes: Buffer) => {
        read += bytes.length;
        unread.socket.pause();
        setTimeout(() => unread.socket.resume(), 100);
      });
      await once(unread.socket.resume(), "close");
      expect(performance.now() - started).toBeLessThan(10_000);
      expect(read).toBeGreaterThan(0);
      const rest = await getBytes(url(LARGE), key, { range: "bytes=0-", "if-range": tag! });
      expect(rest.status).toBe(401);
    });
  });

  describe("and requested again", () => {
    test.each([
      ["ndjson", "project=demo"],
      ["parquet", "project=demo"],
      ["json", "project=demo"],
      ["csv", "project=demo"],
    ])("continue with the same bytes while runs are written, as %s", async (format, query) => {
      const { api, key, orgId } = await stack().organization();
      await writeLargeProject(api, "demo", 1 / 40);
      const address = url(`/api/export?format=${format}&${query}`);
      const whole = await getBytes(address, key);
      expect([whole.status, whole.headers["accept-ranges"]]).toEqual([200, "bytes"]);
      const tag = whole.headers["etag"] as string;
      expect(tag).toMatch(/^"[\w-]+"$/);
      await writeLargeProject(api, "demo", 1 / 40);

      const half = Math.floor(whole.bytes.length / 2);
      const rest = await getBytes(address, key, { range: `bytes=${half}-`, "if-range": tag });
      const size = whole.bytes.length;
      expect(rest).toMatchObject({
        status: 206,
        headers: {
          etag: tag,
          "content-range": `bytes ${half}-${size - 1}/${size}`,
          "content-length": `${size - half}`,
        },
      });
      for (const name of ["content-type", "content-disposition", "cache-control", "x-svc-export-truncated"]) {
        expect(rest.headers[name]).toEqual(whole.headers[name]);
      }
      expect(sha256(Buffer.concat([whole.bytes.subarray(0, half), rest.bytes]))).toBe(sha256(whole.bytes));
      const latest = await getBytes(address, key, { range: "bytes=0-9" });
      expect([latest.status, latest.bytes.equals(whole.bytes.subarray(0, 10))]).toEqual([206, true]);
      const beyond = await getBytes(address, key, { range: `bytes=${size}-`, "if-range": tag });
      expect([beyond.status, beyond.headers["content-range"]]).toEqual([416, `bytes */${size}`]);

      const changed = await getBytes(address, key, { range: `bytes=${half}-`, "if-range": `"${tag.slice(2)}` });
      expect([changed.status, changed.headers["etag"] === tag]).toEqual([200, false]);
      expect(changed.bytes.length).toBeGreaterThan(size);
      const { key: foreignKey } = await keyOf(orgId);
      const foreign = await getBytes(address, foreignKey, { range: `bytes=${half}-`, "if-range": tag });
      expect([foreign.status, foreign.headers["etag"] === tag]).toEqual([200, false]);
      const stranger = await stack().organization();
      expect((await getBytes(address, stranger.key, { range: "bytes=1-", "if-range": tag })).status).toBe(
        format === "ndjson" || format === "parquet" ? 404 : 200,
      );
    });

    test("continue after a connection that broke in the middle", async () => {
      const { api, key } = await stack().organization();
      await writeLargeProject(api, "large");
      const { socket, head } = await openUnread(url(LARGE), key);
      socket.destroy();
      const [, tag] = /\r\netag: (\S+)/i.exec(head)!;
      const rest = await until("the export is complete", async () => {
        const answer = await getBytes(url(LARGE), key, { range: "bytes=1000-", "if-range": tag! });
        return answer.status === 206 ? answer : undefined;
      });
      expect(rest.bytes.subarray(-500).toString()).toContain(`"points":${LARGE_VALUES},`);
      const beginning = await getBytes(url(LARGE), key, { range: "bytes=0-999", "if-range": tag! });
      expect(beginning.bytes.toString()).toMatch(/^\{"type":"export"/);
    });

    test("are not found once their project is deleted", async () => {
      const { browser } = await signIn(stack());
      const { project_id } = (await browser.post("/runs", { project: "demo" })).json.run;
      const path = "/api/export?format=ndjson&project=demo";
      const rest = async () => {
        const headers = { range: "bytes=1-", "if-range": String(whole.headers["etag"]) };
        return (await browser.get(path, { headers })).status;
      };
      const whole = await browser.get(path);
      expect([whole.status, await rest()]).toEqual([200, 206]);
      expect((await browser.call("DELETE", `/projects/${project_id}`)).status).toBe(200);
      expect(await rest()).toBe(404);
    });

    test("have no tag where they are compressed, and no part of one is sent to who may have such bytes", async () => {
      const { api, key } = await stack().organization();
      await api.post("/runs", { project: "demo" });
      const address = url("/api/export?format=ndjson&project=demo");
      const packed = await getBytes(address, key, { "accept-encoding": "gzip" });
      expect([packed.headers["content-encoding"], packed.headers["etag"]]).toEqual(["gzip", undefined]);
      const rest = await getBytes(address, key, { "accept-encoding": "gzip", range: "bytes=5-" });
      expect([rest.status, rest.headers["content-encoding"]]).toEqual([200, "gzip"]);
    });
  });
});
