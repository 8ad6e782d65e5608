import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Answer } from "../stack/client.ts";
import { describeAttacks } from "./attacked-stack.ts";
import { headOf, openWires } from "./wires.ts";

// Documents as large as they may be, and bodies that become much larger than they are.

/** Just below the most bytes of a body with a config. */
const CONFIG_BYTES = 990_000;
const RUNS = 50;
const MEBIBYTE = 1024 * 1024;

/** Returns an object with many keys that takes this number of bytes. */
function manyKeys(bytes: number, of: number): string {
  const parts: string[] = [];
  for (let length = 2, i = 0; length < bytes - 60; i += 1) {
    const part = `"key-${i}":"value ${i} of ${of}"`;
    parts.push(part);
    length += part.length + 1;
  }
  return `{${parts.join(",")}}`;
}

const isPutOff = ({ status, headers }: Answer): boolean => status === 503 && Number(headers["retry-after"]) > 0;
/** The statuses of answers except those that were put off, and whether any succeeded. */
const outcome = (answers: readonly Answer[]) => ({
  others: answers.filter((answer) => answer.status !== 200 && !isPutOff(answer)).map(({ status }) => status),
  isAnyDone: answers.some(({ status }) => status === 200),
});
const FINE = { others: [], isAnyDone: true };

describeAttacks("an organization with documents as large as they may be", (attacked) => {
  const post = (path: string, rawBody: string) => attacked().attacker.api.call("POST", path, { rawBody });
  const newRun = (config: string) => post("/runs", `{"project":"large","config":${config}}`);

  describe("in configs", () => {
    let ids: string[] = [];
    beforeAll(async () => {
      ids = [];
      for (let i = 0; i < RUNS; i += 1) ids.push((await newRun(manyKeys(CONFIG_BYTES, i))).json.run.id);
    });

    test("compares 50 of them, several times in one moment", async () => {
      const compare = () => attacked().attacker.api.get(`/api/runs/side-by-side?run_ids=${ids.join(",")}`);
      const { result } = await attacked().attack(
        async () => {
          const answers = await Promise.all(Array.from({ length: 12 }, compare));
          return [...answers, await compare()];
        },
        // 82 MB each.
        { grownMib: 350 },
      );
      expect(outcome(result)).toEqual(FINE);
      expect(result.at(-1)!.json.runs).toHaveLength(RUNS);
    });

    test("writes 20 of them in one moment", async () => {
      const config = manyKeys(CONFIG_BYTES, 0);
      const write = () => Promise.all(Array.from({ length: 20 }, () => newRun(config)));
      const { result } = await attacked().attack(write, { grownMib: 300 });
      expect(outcome(result)).toEqual(FINE);
    });

    test("lays as many keys over an inherited config", async () => {
      const body = `{"config_overrides":${manyKeys(CONFIG_BYTES - 100, 9)}}`;
      const fork = (_: unknown, i: number) => post(`/api/runs/${ids[i]!}/forks`, body);
      const { result } = await attacked().attack(() => Promise.all(Array.from({ length: 10 }, fork)), {
        grownMib: 300,
      });
      expect(outcome(result)).toEqual(FINE);
    });
  });

  test("asks for series of 2,000 runs", async () => {
    for (let made = 0; made < 2000; made += 100)
      await Promise.all(Array.from({ length: 100 }, () => attacked().attacker.api.post("/runs", { project: "many" })));
    const pages = await Promise.all(
      [0, 1000].map((offset) => attacked().attacker.api.get(`/runs?project=many&limit=1000&offset=${offset}`)),
    );
    const runIds = pages.flatMap(({ json }) => (json.runs as { id: string }[]).map(({ id }) => id));
    expect(new Set(runIds).size).toBe(2000);
    const body = JSON.stringify({ key: "loss", run_ids: runIds });
    const ask = () => post("/api/metrics/series", body);
    const { result } = await attacked().attack(() => Promise.all(Array.from({ length: 20 }, ask)), { grownMib: 200 });
    expect(outcome(result)).toEqual(FINE);
  });

  test.each([
    ["blank lines", "\n".repeat(6 * MEBIBYTE)],
    ["blank lines of a mebibyte", `${" ".repeat(MEBIBYTE - 1)}\n`.repeat(14)],
  ])("restores compressed %s, 20 times, and leaves", async (_, text) => {
    const body = gzipSync(text);
    const { key } = attacked().attacker;
    const head = headOf("POST", "/api/imports/archive", {
      authorization: `Bearer ${key}`,
      "content-type": "application/x-ndjson",
      "content-encoding": "gzip",
      "content-length": body.length,
    });
    const send = async (count: number) => {
      const wires = await openWires(attacked().stack.baseUrl, count);
      for (const { socket } of wires) {
        socket.write(head);
        socket.write(body);
      }
      return wires;
    };
    await attacked().attack(
      async () => {
        for (const { socket } of await send(20)) socket.end(() => socket.destroy());
        await until("it has stopped", async () => {
          await new Promise((resolve) => setTimeout(resolve, 500));
          return (await attacked().figures("imports-export")).cpuMs < 100;
        });
      },
      { grownMib: 200 },
    );
    const [stays] = await send(1);
    await until("an answer", () => stays!.statuses.length > 0);
    stays!.socket.destroy();
    expect(stays!.statuses).toEqual([400]);
  });
});
