import { expect, test } from "@jest/globals";
import { measureLateness } from "./lateness.rules.ts";

test("the time that transactions take to begin beyond the least is the lateness of the database", () => {
  const lateness = measureLateness();
  lateness.began(0.5);
  lateness.began(1.5);
  lateness.began(10);
  expect(lateness.take()).toBeCloseTo(3.5);
});

test("nothing is known of a time in which none began, and what was taken counts no more", () => {
  const lateness = measureLateness();
  expect(lateness.take()).toBeUndefined();
  lateness.began(1);
  lateness.began(21);
  expect(lateness.take()).toBeCloseTo(10);
  lateness.began(2);
  expect(lateness.take()).toBeCloseTo(1, 1);
  expect(lateness.take()).toBeUndefined();
});

test("the way to a database that is farther away is believed after a while", () => {
  const lateness = measureLateness();
  lateness.began(0.5);
  lateness.take();
  let lateMs = 0;
  for (let i = 0; i < 600; i += 1) {
    lateness.began(6);
    lateMs = lateness.take()!;
  }
  expect(lateMs).toBeLessThan(0.1);
});
