import { expect, test } from "@jest/globals";
import { newIdsOf, pack, spareId, unpack } from "./new-ids.rules.ts";

const [a, b] = ["0c8ffd3a-0000-4000-8000-000000000001", "0c8ffd3a-0000-4000-8000-000000000002"];

test("a spare id is a UUID of version 8, the same for the same row of an archive alone", () => {
  expect(spareId(a, "run", b)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(spareId(a, "run", b)).toBe(spareId(a, "run", b));
  expect(
    new Set([spareId(a, "run", b), spareId(b, "run", b), spareId(a, "artifact", b), spareId(a, "run", a)]).size,
  ).toBe(4);
});

test("ids are replaced by type, in documents wherever a text is one", () => {
  const ids = newIdsOf([{ type: "run", old: a, new: b }]);
  expect([ids.of("run", a), ids.of("artifact", a), ids.of("run", b)]).toEqual([b, a, b]);
  expect(ids.inDocument(`{"run":"${a}","text":"see ${a}","${a}":1.50}`)).toBe(
    `{"run":"${b}","text":"see ${a}","${b}":1.50}`,
  );
  expect(unpack(pack({ a: ["é"] }))).toEqual({ a: ["é"] });
});
