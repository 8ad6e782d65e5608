import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { describeAttacks } from "./attacked-stack.ts";
import { countOf, headOf, inSingleBytes, openWire, openWires, postOf, type Wire } from "./wires.ts";

// More than a client would ever send: requests that arrive together, and bytes in the smallest pieces.

const [CONNECTIONS, REQUESTS] = [100, 2400];

const statusesOf = (wires: readonly Wire[]): number[] => wires.flatMap(({ statuses }) => statuses);

describeAttacks("an organization that sends as much as it can", (attacked) => {
  const authorization = (): string => `Bearer ${attacked().attacker.key}`;
  const baseUrl = (): string => attacked().stack.baseUrl;

  test.each([
    ["reads", (run: string) => headOf("GET", `/runs/${run}`, { authorization: authorization() })],
    [
      "writes",
      (run: string) =>
        postOf(`/runs/${run}/metrics`, authorization(), '{"step":1,"metrics":{"loss":0.5,"accuracy":0.25}}'),
    ],
  ])("2,400 requests in one moment: %s", async (_, requestOf) => {
    const request = requestOf(attacked().attacker.run);
    const wires = await openWires(baseUrl(), CONNECTIONS);
    await attacked().attack(
      async () => {
        for (const { socket } of wires) socket.write(request.repeat(REQUESTS / CONNECTIONS));
        await until("all answers", () => statusesOf(wires).length === REQUESTS);
      },
      { grownMib: 200 },
    );
    for (const { socket } of wires) socket.destroy();
    const { 200: done = 0, 503: refused = 0 } = countOf(statusesOf(wires));
    expect(done + refused).toBe(REQUESTS);
    expect(done).toBeGreaterThan(REQUESTS / 10);
  });

  test("half a mebibyte of requests for unknown paths on one connection", async () => {
    const request = headOf("GET", "/nope", {});
    const count = Math.ceil((512 * 1024) / request.length);
    const wire = await openWire(baseUrl());
    await attacked().attack(
      async () => {
        wire.socket.write(request.repeat(count));
        await until("all answers", () => wire.statuses.length === count);
      },
      { grownMib: 200 },
    );
    wire.socket.destroy();
    expect(countOf(wire.statuses)).toEqual({ 404: count });
  });

  test.each([
    ["3 MB of an archive", () => "/api/imports/archive", "application/x-ndjson", 3_000_000],
    ["2 MB of JSON", (run: string) => `/runs/${run}/metrics/batch`, "application/json", 2_000_000],
  ])("%s in chunks of one byte, several times", async (_, pathOf, type, bytes) => {
    const head = headOf("POST", pathOf(attacked().attacker.run), {
      authorization: authorization(),
      "content-type": type,
      "transfer-encoding": "chunked",
    });
    const body = inSingleBytes(bytes, " ");
    const wires = await openWires(baseUrl(), 4);
    await attacked().attack(
      async () => {
        for (const { socket } of wires) socket.write(head + body);
        await Promise.all(wires.map(({ closed }) => closed));
      },
      { grownMib: 200 },
    );
    expect(statusesOf(wires)).toEqual(wires.map(() => 400));
  });
});
