import { expect, test } from "@jest/globals";
import { monthOf } from "./usage.ts";

test.each([
  ["2026-01-01T00:00:00Z", "2026-01-01", "2026-02-01T00:00:00.000Z"],
  ["2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01T00:00:00.000Z"],
  ["2028-02-29T12:00:00Z", "2028-02-01", "2028-03-01T00:00:00.000Z"],
])("the month of %s", (now, firstDay, end) => {
  const month = monthOf(new Date(now));
  expect([month.firstDay, month.startsAt.toISOString(), month.endsAt.toISOString()]).toEqual([
    firstDay,
    `${firstDay}T00:00:00.000Z`,
    end,
  ]);
  expect(`${month.name}-01`).toBe(firstDay);
});
