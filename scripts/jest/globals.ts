import type * as Globals from "@jest/globals";
import { ModernFakeTimers } from "@jest/fake-timers";

type Jest = typeof Globals.jest;
type Timers = Pick<
  Jest,
  "useFakeTimers" | "useRealTimers" | "setSystemTime" | "advanceTimersByTime" | "advanceTimersByTimeAsync"
>;

// The runner sets these.
const set = globalThis as unknown as typeof Globals;

export const { expect, test, it, describe, beforeAll, beforeEach, afterAll, afterEach } = set;

const config = { fakeTimers: { enableGlobally: false } } as ConstructorParameters<typeof ModernFakeTimers>[0]["config"];
const clock = new ModernFakeTimers({ config, global: globalThis });

const timers: Timers = {
  useFakeTimers(options) {
    clock.useFakeTimers(options as Parameters<typeof clock.useFakeTimers>[0]);
    return jest;
  },
  useRealTimers() {
    clock.useRealTimers();
    return jest;
  },
  setSystemTime: (now) => clock.setSystemTime(now),
  advanceTimersByTime: (ms) => clock.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms) => clock.advanceTimersByTimeAsync(ms),
};

/** The parts of Jest's object that tests use. The runner's own timers know fewer options. */
export const jest = { ...set.jest, ...timers };
