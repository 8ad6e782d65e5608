import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createTurns, type Turn, type Turns, type Waiting } from "./turns.ts";

const LANE = "reads ";
const soon = (): number => Date.now() + 60_000;

let turns: Turns;
beforeEach(() => {
  turns = createTurns();
});
afterEach(() => turns.close());

const isTurn = (begun: Turn | Waiting): begun is Turn => "end" in begun;

/** Keeps the event loop late, as large requests do, until an organization with many requests has to wait. Returns its first request that waits. */
async function slowDown(org: string): Promise<{ waiting: Waiting; served: Turn[] }> {
  const served: Turn[] = [];
  for (let i = 0; i < 40; i += 1) served.push(turns.begin(org, LANE, soon()) as Turn);
  for (;;) {
    const quiet = turns.begin("quiet", LANE, soon());
    if (!isTurn(quiet)) throw new Error("the quiet organization has to wait");
    const untilMs = performance.now() + 40;
    while (performance.now() < untilMs);
    await nextTurn();
    quiet.end();
    const begun = turns.begin(org, LANE, soon());
    if (!isTurn(begun)) return { waiting: begun, served };
    begun.end();
  }
}

describe("turns", () => {
  test("begin immediately for an organization that is alone", async () => {
    for (let i = 0; i < 1000; i += 1) expect(isTurn(turns.begin("alone", LANE, soon()))).toBe(true);
    const untilMs = performance.now() + 300;
    while (performance.now() < untilMs) if (Math.trunc(performance.now()) % 50 === 0) await nextTurn();
    await pause(150);
    expect(isTurn(turns.begin("alone", LANE, soon()))).toBe(true);
  });

  test("of the organization that keeps the loop late begin when earlier ones have ended", async () => {
    const { waiting, served } = await slowDown("noisy");
    expect(turns.waiting()).toBe(1);
    for (const turn of served) turn.end();
    expect(isTurn(await waiting.turn)).toBe(true);
    expect(turns.waiting()).toBe(0);
  });

  test("that were ended twice count once", async () => {
    const turn = turns.begin("a", LANE, soon()) as Turn;
    turn.end();
    turn.end();
    expect(isTurn(turns.begin("a", LANE, soon()))).toBe(true);
  });

  test("that a client gave up are never served", async () => {
    const { waiting } = await slowDown("noisy");
    waiting.withdraw();
    await expect(waiting.turn).rejects.toMatchObject({ reason: "service_unavailable" });
    expect(turns.waiting()).toBe(0);
  });

  test("end with the deadline of the request", async () => {
    const { waiting, served } = await slowDown("noisy");
    const late = turns.begin("noisy", LANE, Date.now()) as Waiting;
    await expect(late.turn).rejects.toMatchObject({ reason: "deadline_exceeded", retryAfterSeconds: 1 });
    for (const turn of served) turn.end();
    await waiting.turn;
  });

  test("beyond the bound of those that wait are refused with a time to retry", async () => {
    const { waiting } = await slowDown("noisy");
    const all = [waiting];
    expect(() => {
      for (let i = 0; i < 2000; i += 1) {
        const begun = turns.begin("noisy", LANE, soon());
        if (isTurn(begun)) throw new Error("it was served");
        all.push(begun);
      }
    }).toThrow(expect.objectContaining({ reason: "service_unavailable", retryAfterSeconds: 1 }));
    for (const one of all) {
      one.turn.catch(() => {});
      one.withdraw();
    }
  });
});
