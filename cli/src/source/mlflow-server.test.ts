import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { runCli } from "../run-cli.ts";
import { fixturesFolder, recordedSurroundings } from "../surroundings.fixture.ts";

const answers = JSON.parse(
  readFileSync(join(fixturesFolder, "mlflow-3.17.2-server/data/answers.json"), "utf8"),
) as Record<string, string>;

/** The number of rows of a page with which the answers were recorded. */
const PAGE_ROWS = 3;

const numberNames = ["max_results"];

/** Answers as an MLflow server that wants a token. */
const server = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url!, "http://x");
    const sent = (
      request.method === "POST" ? JSON.parse(Buffer.concat(chunks).toString()) : Object.fromEntries(url.searchParams)
    ) as Record<string, unknown>;
    const parameters = Object.entries(sent)
      .map(([name, value]) => [name, numberNames.includes(name) ? PAGE_ROWS : value] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    const path = url.pathname.replace("/api/2.0/mlflow/", "");
    const answer = answers[JSON.stringify([request.method, path, Object.fromEntries(parameters)])];
    const status = request.headers.authorization === "Bearer secret" ? (answer === undefined ? 404 : 200) : 401;
    response.writeHead(status).end(status === 200 ? answer : path);
  })();
});

let address = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("the runs of a server are read with the credentials of MLflow", async () => {
  const surroundings = recordedSurroundings({ env: { MLFLOW_TRACKING_TOKEN: "secret" } });
  expect(await runCli(["import", address, "--dry-run"], surroundings)).toBe(0);
  expect(surroundings.printed.join("\n")).toMatch(/would import from mlflow into .*: 3 runs, 20 points/);
});

test("a server that refuses is said", async () => {
  const surroundings = recordedSurroundings();
  expect(await runCli(["import", address, "--dry-run"], surroundings)).toBe(1);
  expect(surroundings.reported.join("")).toContain("answered 401");
});
