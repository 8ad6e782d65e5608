import fc from "fast-check";
import type { DisplayStatus, RunStatus } from "@tidemark/run-state";
import { readDocument, writeCanonical } from "@tidemark/documents";
import type { SearchedRun } from "./search-evaluator.fixture.ts";

/** Searched bytes of a text. */
const CUT = 32_768;

/** Few characters, so that texts share pieces: characters of patterns, JSON and queries, and K and s that only Unicode folds. */
const UNITS = Array.from("aAbBkKsS1 -_%\\\"'/.:()éÉ\u{212A}\u{17F}\u{1F600}");

const shortText = fc.string({ unit: fc.constantFrom(...UNITS), minLength: 1, maxLength: 8 });

/** A text that every field accepts: not blank, no white space at its ends. */
const fieldText = shortText.map((text) => text.trim()).filter((text) => text !== "");

/** A text whose tail is near the end of searched texts; its characters take 1 to 4 bytes each. */
const longText = fc
  .tuple(shortText, fc.constantFrom("a", "é", "\u{212A}", "\u{1F600}"), fc.integer({ min: 0, max: 60 }), shortText)
  .map(([head, filler, before, tail]) => {
    const bytesLeft = CUT - before - Buffer.byteLength(head);
    return head + filler.repeat(Math.floor(bytesLeft / Buffer.byteLength(filler))) + tail.repeat(6);
  });

const text = fc.oneof({ weight: 12, arbitrary: shortText }, { weight: 1, arbitrary: longText });

/** Values as clients send them, nested at most two deep. */
const { value: jsonValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    shortText,
    fc.constantFrom(0, 1, -1, 0.1, 13, 1e21, true, false, null, ""),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "k", "notes", "note", "é"), tie("value"), { maxKeys: 2 }),
  ),
}));

/** Returns a document as it is stored: compact, keys sorted. */
function stored(document: object): string {
  return writeCanonical(readDocument(Buffer.from(JSON.stringify(document)), "document"));
}

const config = fc
  .record({ lr: fc.constantFrom(0.1, 0.01), seed: fc.nat({ max: 13 }), a: jsonValue, b: text }, { requiredKeys: [] })
  .map(stored);

/** A value of a notes key: mostly a text, sometimes empty or long, another kind of value, or a text that no database can store. */
const note = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 2, arbitrary: jsonValue },
  fc.constantFrom("", " ", "a\0b", "a\u{D800}b"),
);
const metadata = fc
  .record(
    { notes: note, note, description: note, summary: note, comment: note, other: jsonValue, Notes: shortText },
    { requiredKeys: [] },
  )
  .map(stored);

/** Tags; some end beyond the first 32 KiB of all: 63 long ones that leave a few bytes, then short ones. */
const manyTags = fc
  .tuple(fc.integer({ min: 500, max: 512 }), fc.array(fieldText, { minLength: 4, maxLength: 12 }))
  .map(([last, tags]) => [...Array.from({ length: 63 }, () => "a".repeat(511)), "b".repeat(last), ...tags]);

const tags = fc.oneof(
  { weight: 2, arbitrary: fc.constant<string[]>([]) },
  { weight: 10, arbitrary: fc.array(fieldText, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: manyTags },
);

const statuses = fc.constantFrom<readonly [RunStatus, DisplayStatus]>(
  ["running", "running"],
  ["running", "stopping"],
  ["finished", "finished"],
  ["finished", "stopped"],
  ["failed", "failed"],
  ["failed", "stopped"],
);

/** Any run that can be stored. Ids are random UUIDs, so that two runs practically never have the same one. */
export const searchedRun: fc.Arbitrary<SearchedRun> = fc
  .record({ id: fc.uuid({ version: 4 }), project: fieldText, name: fieldText, tags, metadata, config, statuses })
  .map(({ statuses: [status, displayStatus], ...run }) => ({ ...run, status, displayStatus }));
