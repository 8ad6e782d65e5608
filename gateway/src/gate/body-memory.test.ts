import { expect, test } from "@jest/globals";
import { createBodyMemory } from "./body-memory.ts";

const refused = (what: string) => ({ reason: "service_unavailable", message: expect.stringContaining(what) });

test("an organization holds a quarter at most, and others are served", () => {
  const bodies = createBodyMemory(1000);
  bodies.open("a", "n1").take(200);
  expect(() => bodies.open("a", "n2").take(51)).toThrow(expect.objectContaining(refused("of your organization")));
  bodies.open("a", "n2").take(50);
  bodies.open("b", "n2").take(250);
});

test("a network holds a half at most, for any organizations", () => {
  const bodies = createBodyMemory(1000);
  for (const organization of ["a", "b"]) bodies.open(organization, "n1").take(250);
  expect(() => bodies.open("c", "n1").take(1)).toThrow(expect.objectContaining(refused("from your address")));
  bodies.open("c", "n2").take(250);
});

test("all together hold at most the whole memory", () => {
  const bodies = createBodyMemory(1000);
  for (const organization of ["a", "b", "c", "d"]) bodies.open(organization, organization).take(250);
  expect(() => bodies.open("e", "e").take(1)).toThrow(
    expect.objectContaining(refused("too many simultaneous large requests")),
  );
});

test("a body that is alone fits at any size, piece by piece", () => {
  const account = createBodyMemory(1000).open("a", "n1");
  account.take(900);
  expect(() => account.take(900)).not.toThrow();
});

test("returned memory is free, once", () => {
  const bodies = createBodyMemory(1000);
  const [first, second] = [bodies.open("a", "n1"), bodies.open("a", "n1")];
  first.take(250);
  first.giveBack(150);
  second.take(150);
  first.close();
  first.close();
  second.take(100);
  expect(() => bodies.open("a", "n1").take(1)).toThrow(expect.objectContaining(refused("of your organization")));
  second.giveBack(1_000_000);
  bodies.open("a", "n1").take(250);
});

test("charges of work that outlives its request do not stay", () => {
  const bodies = createBodyMemory(1000);
  const left = bodies.open("a", "n1");
  left.close();
  left.take(900);
  left.add(900);
  bodies.open("b", "n1").take(400);
  expect(() => bodies.open("b", "n2").take(1)).toThrow(expect.objectContaining(refused("of your organization")));
  bodies.open("a", "n1").take(100);
});

test("unconditional charges keep others waiting", () => {
  const bodies = createBodyMemory(1000);
  bodies.open("a", "n1").take(200);
  bodies.open("a", "n1").add(500);
  expect(() => bodies.open("a", "n1").take(1)).toThrow(expect.objectContaining(refused("of your organization")));
});
