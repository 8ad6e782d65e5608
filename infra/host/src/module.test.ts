import { describe, expect, test } from "@jest/globals";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { type ModuleDefinition, startOrder } from "./module.ts";

function module(name: string, ...needs: string[]): ModuleDefinition {
  return {
    name,
    config: {},
    provides: [],
    needs: needs.map((need) => ({ module: need, service: EchoService })),
    start: () => Promise.reject(new Error("not started in this test")),
  };
}
const names = (modules: readonly ModuleDefinition[]): string[] => startOrder(modules).map(({ name }) => name);

describe("the start order", () => {
  test("puts modules after those they need, in any given order", () => {
    expect(names([module("gateway", "runs", "control"), module("runs", "control"), module("control")])).toEqual([
      "control",
      "runs",
      "gateway",
    ]);
  });

  test("leaves out what runs in another process", () => {
    expect(names([module("gateway", "runs")])).toEqual(["gateway"]);
  });

  test("names the circle when modules need each other", () => {
    expect(() => names([module("a", "b"), module("b", "c"), module("c", "a")])).toThrow("a -> b -> c -> a");
  });

  test("refuses two modules of one name", () => {
    expect(() => names([module("a"), module("a")])).toThrow("same name");
  });
});
