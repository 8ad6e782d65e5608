import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { until } from "@tidemark/testkit";
import type { Turn, Turns, Waiting } from "@tidemark/work";
import { orgId, startApp, type TestApp } from "../app.fixture.ts";
import { workRoute } from "../serving/echo-routes.fixture.ts";

const anyKey = { kind: "credentials", key: { scopes: [] }, session: { refused: 401 } } as const;

let work: () => Promise<string>;
let begun: string[] = [];
let ended = 0;
let withdrawn = 0;
/** What the next request gets of its organization's turns; a turn unless a test says otherwise. */
let answer: "turn" | "wait" | "refuse" = "turn";
let admit: () => void = () => {};

const turn: Turn = { end: () => void (ended += 1) };
const turns: Turns = {
  begin(org, lane) {
    begun.push(`${lane}${org}`);
    if (answer === "turn") return once(turn);
    if (answer === "refuse") throw new AppError("service_unavailable", "too many wait", { retryAfterSeconds: 1 });
    const { promise, resolve, reject } = Promise.withResolvers<Turn>();
    admit = () => resolve(once(turn));
    const waiting: Waiting = {
      turn: promise,
      withdraw: () => {
        withdrawn += 1;
        reject(new AppError("service_unavailable", "withdrawn"));
      },
    };
    return waiting;
  },
  waiting: () => 0,
  close: () => {},
};

/** A turn that can be ended any number of times, like real ones. */
function once({ end }: Turn): Turn {
  let isOver = false;
  return {
    end: () => {
      if (!isOver) end();
      isOver = true;
    },
  };
}

let app: TestApp;
let authorization: string;
beforeAll(async () => {
  app = await startApp({
    routes: [
      workRoute(() => work(), { callers: anyKey }),
      workRoute(() => work(), { callers: anyKey, method: "POST", rate: "ingest", body: "required" }),
      workRoute(() => work(), { path: "/poll", callers: anyKey, rate: "control_poll" }),
      workRoute(() => work(), { path: "/anyone" }),
      workRoute(() => work(), { path: "/upload", callers: anyKey, method: "PUT", streamed: "bytes" }),
    ],
    options: { turns },
  });
  authorization = `Bearer ${app.addKey(["sdk:ingest"])}`;
});
afterAll(() => app.close());
beforeEach(() => {
  [begun, ended, withdrawn, answer] = [[], 0, 0, "turn"];
  work = () => Promise.resolve("done");
});

const get = (path: string) => fetch(`${app.url}${path}`, { headers: { authorization } });
const post = (body: string) =>
  fetch(`${app.url}/work`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body,
  });

describe("a request with credentials", () => {
  test.each([
    ["reads", () => get("/work"), "reads "],
    ["polls", () => get("/poll"), "writes "],
    ["writes", () => post("{}"), "writes "],
  ])("that %s has one turn of its organization, and ends it", async (_, send, lane) => {
    expect((await send()).status).toBe(200);
    expect(begun).toEqual([`${lane}${orgId}`]);
    await until("the turn has ended", () => ended === 1);
  });

  test("ends its turn when it fails", async () => {
    work = () => Promise.reject(new AppError("not_found", "no such thing"));
    expect((await get("/work")).status).toBe(404);
    await until("the turn has ended", () => ended === 1);
  });

  test("ends its turn when its body is malformed", async () => {
    expect((await post("{")).status).toBe(400);
    await until("the turn has ended", () => ended === begun.length && ended === 1);
  });

  test("waits for its turn before its body is parsed, and is then served whole", async () => {
    answer = "wait";
    const sent = post('{"a": "b"}');
    await until("it waits", () => begun.length === 1);
    admit();
    expect((await sent).status).toBe(200);
    await until("the turn has ended", () => ended === 1);
    expect(begun).toHaveLength(1);
  });

  test("is refused with a time to retry where too many wait", async () => {
    answer = "refuse";
    for (const send of [() => get("/work"), () => post("{}")]) {
      const refused = await send();
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    }
    expect(ended).toBe(0);
  });

  test.each([
    ["without a body", "GET", ""],
    ["with a body", "POST", "Content-Type: application/json\r\nContent-Length: 2\r\n"],
  ])("%s gives up its place when the client leaves", async (_, method, more) => {
    answer = "wait";
    const socket = connect(app.port, "127.0.0.1");
    socket.write(`${method} /work HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n${more}\r\n{}`);
    await until("it waits", () => begun.length === 1);
    socket.destroy();
    await until("it was withdrawn", () => withdrawn > 0);
    expect(ended).toBe(0);
  });

  test("whose turn comes when the client has just left gives it back", async () => {
    answer = "wait";
    let worked = 0;
    work = () => Promise.resolve(String((worked += 1)));
    const socket = connect(app.port, "127.0.0.1");
    socket.write(`GET /work HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
    await until("it waits", () => begun.length === 1);
    const comesFirst = admit;
    socket.destroy();
    comesFirst();
    await until("the turn has ended", () => ended === 1);
    expect(worked).toBeLessThanOrEqual(1);
  });
});

test.each([
  ["of callers without credentials", () => fetch(`${app.url}/anyone`)],
  [
    "whose bodies are streamed",
    () => fetch(`${app.url}/upload`, { method: "PUT", headers: { authorization }, body: "x" }),
  ],
])("requests %s have no turns", async (_, send) => {
  expect((await send()).status).toBe(200);
  expect(begun).toEqual([]);
});
