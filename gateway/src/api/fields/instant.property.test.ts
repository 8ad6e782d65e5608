import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { parseInstant, parseInstantText, parseMicros, readMicros } from "./instant.ts";

const RUNS = 20_000;

const padded = (digits: number, numbers: fc.Arbitrary<number>): fc.Arbitrary<string> =>
  numbers.map((number) => String(number).padStart(digits, "0"));

const bounds = [1, 2, 4, 100, 400, 1600, 1684, 1900, 1969, 1970, 2000, 2024, 2026, 2100, 2255, 9998, 9999];
const anyYear = padded(4, fc.oneof(fc.constantFrom(...bounds), fc.integer({ min: 1, max: 9999 })));
const anyDate = fc
  .tuple(anyYear, padded(2, fc.integer({ min: 1, max: 12 })), padded(2, fc.integer({ min: 1, max: 31 })))
  .map((parts) => parts.join("-"));
const someDates = fc.oneof(
  { weight: 3, arbitrary: anyDate },
  { weight: 1, arbitrary: anyYear.map((year) => `${year}-02-29`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("0001-01-01", "0001-01-02", "9999-12-30", "9999-12-31", "1969-12-31", "1970-01-01"),
  },
);
const anyTime = fc.oneof(
  fc
    .tuple(
      padded(2, fc.integer({ min: 0, max: 23 })),
      padded(2, fc.integer({ min: 0, max: 59 })),
      padded(2, fc.integer({ min: 0, max: 59 })),
    )
    .map((parts) => parts.join(":")),
  fc.constantFrom("00:00:00", "23:59:59", "23:59:60", "24:00:00", "12:60:00"),
);
const anyFraction = fc.oneof(
  fc.constant(""),
  fc
    .string({ unit: fc.constantFrom(..."0123456789".split("")), minLength: 1, maxLength: 9 })
    .map((digits) => `.${digits}`),
  fc.string({ unit: fc.constantFrom("0", "9"), maxLength: 45 }).map((digits) => `.${digits}`),
);
const anyZone = fc.oneof(
  fc.constantFrom(
    "Z",
    "+00:00",
    "-00:00",
    "+23:59",
    "-23:59",
    "+05:30",
    "-08:00",
    "z",
    "",
    "+24:00",
    "+12:60",
    "+0100",
  ),
  fc
    .tuple(fc.constantFrom("+", "-"), padded(2, fc.integer({ min: 0, max: 23 })), padded(2, fc.nat(59)))
    .map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
);
/** Instants, and texts that lack one thing. */
const anyInstant = fc
  .tuple(someDates, fc.constantFrom("T", "T", "T", "T", "t", " "), anyTime, anyFraction, anyZone)
  .map((parts) => parts.join(""));
const anyCharacter = fc.oneof(
  fc.constantFrom(..."0123456789-+:.TZtz /;\t\n\u00a0é\u0660".split("")),
  fc.string({ maxLength: 2 }),
);
/** The same with one part of the text replaced, put in or left out. */
const nearlyInstant = fc
  .tuple(anyInstant, fc.nat(34), fc.nat(2), anyCharacter)
  .map(([text, at, length, put]) => `${text.slice(0, at)}${put}${text.slice(at + length)}`);
const anyText = fc.oneof(anyInstant, nearlyInstant, fc.string({ maxLength: 70 }));

test("microseconds and text match the full rule, for any text", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const found = parseInstant(text);
      expect(parseMicros(text)).toBe(found?.micros);
      expect(parseInstantText(text)).toBe(found?.text);
    }),
    { numRuns: RUNS },
  );
});

test("the forms in which clients send instants are read without the whole rule", () => {
  const usual = fc.tuple(
    fc.date({ min: new Date("0001-01-03T00:00:00Z"), max: new Date("9999-12-29T00:00:00Z"), noInvalidDate: true }),
    fc.nat(999),
    fc.constantFrom("Z", "+00:00", "-11:30", "+14:00"),
  );
  fc.assert(
    fc.property(usual, (parts) => {
      const [date, thousandths, zone] = parts;
      const text = `${date.toISOString().slice(0, -1)}${String(thousandths).padStart(3, "0")}${zone}`;
      expect(readMicros(text)).toBe(parseInstant(text)?.micros);
      expect(readMicros(text)).not.toBeNaN();
    }),
    { numRuns: RUNS },
  );
});
