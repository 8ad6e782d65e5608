import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeAll, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { LARGE_VALUES, writeLargeProject } from "../e2e/kept-exports.fixture.ts";
import { asOperator } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";
import { describeAttacks } from "./attacked-stack.ts";
import { countOf, headOf, openWire, type Wire } from "./wires.ts";

// Clients that ask for much and read a few bytes a second.

/** The end of an answer that is complete. */
const LAST_CHUNK = "\r\n0\r\n\r\n";
const READERS = 45;
/** Held data, data being written, and garbage. */
const WHILE_WRITTEN = { grownMib: 350 };
const EXPORT = "/api/export?format=ndjson&project=large";

describeAttacks("an organization that reads a few bytes a second", (attacked) => {
  const opened: Wire[] = [];
  afterEach(() => {
    for (const { socket } of opened.splice(0)) socket.destroy();
  });

  /** Asks, and reads the beginning, and then a few bytes a second. */
  const askSlowly = async (path: string): Promise<Wire> => {
    const wire = await openWire(attacked().stack.baseUrl);
    opened.push(wire);
    wire.socket.write(headOf("GET", path, { authorization: `Bearer ${attacked().attacker.key}`, connection: "close" }));
    await until("an answer", () => wire.statuses.length === 1 || wire.socket.destroyed);
    if (wire.socket.destroyed) return wire;
    wire.socket.pause();
    const timer = setInterval(() => wire.socket.read(4), 1000);
    void wire.closed.then(() => clearInterval(timer));
    return wire;
  };
  const askSlowlyOften = (path: string): Promise<Wire[]> =>
    Promise.all(Array.from({ length: READERS }, () => askSlowly(path)));

  let attributes = "";
  let spans = "";
  beforeAll(async () => {
    const { api, run } = attacked().attacker;
    const fine = async (path: string, body: object, headers = {}): Promise<void> => {
      expect((await api.post(path, body, { headers })).status).toBe(200);
    };
    const trace = randomUUID().replaceAll("-", "");
    attributes = `/api/runs/${run}/attributes?path_prefix=large`;
    spans = `/api/runs/${run}/traces/${trace}/spans?limit=500`;
    const long = (bytes: number): string => "x".repeat(bytes);
    for (let batch = 0; batch < 4; batch += 1) {
      const values = [0, 1, 2, 3].map((n) => ({
        path: `large/${batch}/${n}`,
        type: "string_series",
        value: long(1_000_000),
      }));
      await fine(`/api/runs/${run}/attributes`, { attributes: values });
      const events = Array.from({ length: 60 }, (_, n) => ({
        trace_id: trace,
        span_id: (1 + 60 * batch + n).toString(16).padStart(16, "0"),
        event_id: randomUUID(),
        sequence: 1,
        event_kind: "finished",
        name: "large",
        kind: "model",
        status: "ok",
        started_at: "2026-01-05T10:00:00Z",
        attributes: { of: long(32_000) },
        metrics: { of: long(16_000) },
        links: { of: long(16_000) },
      }));
      await fine(`/api/runs/${run}/traces/events`, { events }, { "idempotency-key": randomUUID() });
    }
    await writeLargeProject(api, "large");
    await writeLargeProject(attacked().neighbor.api, "large", 1 / 8);
  });

  test.each([
    ["attributes", () => attributes],
    ["spans", () => spans],
  ])("holds no more memory than all may, with many large answers of %s", async (_, path) => {
    const { result } = await attacked().attack(() => askSlowlyOften(path()), WHILE_WRITTEN);
    const { 200: answered = 0, 503: refused = 0 } = countOf(result.flatMap(({ statuses }) => statuses));
    expect(answered + refused).toBe(READERS);
    expect(answered).toBeGreaterThan(0);
  });

  test("with exports stops no other export, and keeps no transaction open", async () => {
    const { stack, attacker, neighbor } = attacked();
    const made = await stack.api.post(`/api/orgs/${attacker.orgId}/api-keys`, { name: "k" }, asOperator(stack));
    const colleague = attacker.api.as(made.json.api_key);
    const open = () =>
      queryDatabase<{ count: number }>(
        stack,
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'tidemark-%'
           AND state LIKE 'idle in transaction%' AND xact_start < now() - interval '1 second'`,
      );
    const { result } = await attacked().attack(
      async () => {
        const slow = await Promise.all([1, 2, 3, 4].map(() => askSlowly(EXPORT)));
        const others = await Promise.all([neighbor.api.get(EXPORT), colleague.get(EXPORT), attacker.api.get(EXPORT)]);
        let calm = 0;
        await until("no transaction is open for three seconds", async () => {
          await pause(300);
          calm = (await open())[0]!.count === 0 ? calm + 1 : 0;
          return calm === 10;
        });
        return { slow, others };
      },
      { grownMib: 200 },
    );
    expect(result.slow.map(({ statuses, socket }) => [...statuses, socket.destroyed])).toEqual(
      result.slow.map(() => [200, false]),
    );
    expect(result.others.map(({ status }) => status)).toEqual([200, 200, 200]);
    const values = [LARGE_VALUES / 8, LARGE_VALUES, LARGE_VALUES];
    for (const [i, { text }] of result.others.entries()) expect(text.slice(-500)).toContain(`"points":${values[i]},`);
  });

  test("is cut in the end, before it has all of an export", async () => {
    const { result: slow } = await attacked().attack(
      async () => {
        const wires = await Promise.all([1, 2, 3, 4].map(() => askSlowly(EXPORT)));
        // A client is cut that takes less than 4 KiB a second over a minute.
        await pause(75_000);
        return wires;
      },
      { grownMib: 200 },
    );
    expect(slow.flatMap(({ statuses }) => statuses)).toEqual([200, 200, 200, 200]);
    // Bytes that the system has taken can still be read, and then the connection ends.
    for (const { socket } of slow) socket.resume();
    await Promise.all(slow.map(({ closed }) => closed));
    expect(slow.filter((wire) => wire.end().endsWith(LAST_CHUNK))).toEqual([]);
  });
});
