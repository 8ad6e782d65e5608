import { expect, test } from "@jest/globals";
import { createExportPlaces } from "./export-archive.ts";

const [A, B, C] = ["a", "b", "c"];

test("an organization leaves places to others, however many exports it has and waits for", async () => {
  const places = createExportPlaces(4, 60_000);
  const ofA = await Promise.all([places.take(A), places.take(A), places.take(A)]);
  let admitted = 0;
  const waiting = Array.from({ length: 5 }, () =>
    places.take(A).then((leave) => {
      admitted += 1;
      leave();
    }),
  );
  const ofB = await places.take(B);
  const ofC = places.take(C);
  ofA.pop()!();
  // The place goes to the organization that has none, although others have waited longer.
  const leaveC = await ofC;
  expect(admitted).toBe(0);
  for (const leave of [...ofA, ofB, leaveC]) leave();
  await Promise.all(waiting);
  expect(admitted).toBe(5);
});

test("a caller that waits too long is asked to retry, and takes no place", async () => {
  const places = createExportPlaces(1, 20);
  const leave = await places.take(A);
  await expect(places.take(B)).rejects.toMatchObject({ reason: "service_unavailable", retryAfterSeconds: 10 });
  leave();
  (await places.take(C))();
});
