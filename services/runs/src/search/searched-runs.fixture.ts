import fc from "fast-check";
import type { DisplayStatus, RunStatus } from "@tidemark/run-state";
import { readDocument, writeCanonical } from "@tidemark/documents";
import type { SearchedRun } from "./search-evaluator.fixture.ts";
import { QUERY_BYTES_MAX, REGEXES_MAX } from "./words.rules.ts";

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

const FIELDS = ["", "all:", "name:", "project:", "notes:", "config:", "metadata:"] as const;
const STATUSES = ["running", "stopping", "stopped", "finished", "failed"] as const;

/**
 * Returns queries that find some of the runs and not others, because they are made of pieces of them.
 * Every query is accepted: it is within all limits, and its regular expressions are valid in every
 * engine. A few queries are incomplete.
 */
export function searchText(runs: readonly SearchedRun[]): fc.Arbitrary<string> {
  const term = termOf(runs);
  const { query } = fc.letrec<{ query: string }>((tie) => ({
    query: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 2, arbitrary: term },
      fc.tuple(tie("query"), fc.constantFrom(" ", " AND ", " OR "), tie("query")).map((parts) => parts.join("")),
      fc.tuple(tie("query"), tie("query")).map(([left, right]) => `(${left} OR ${right})`),
      tie("query").map((inner) => `-(${inner})`),
      term.map((inner) => `NOT ${inner}`),
    ),
  }));
  return fc
    .oneof(
      { weight: 20, arbitrary: query },
      query.map((text) => `${text} AND`),
      query.map((text) => `(${text}`),
    )
    .filter((text) => Buffer.byteLength(text) <= QUERY_BYTES_MAX && text.split("re:/").length <= REGEXES_MAX + 1);
}

function termOf(runs: readonly SearchedRun[]): fc.Arbitrary<string> {
  const piece = pieceOf(runs.flatMap(textsOf));
  const field = fc.constantFrom(...FIELDS);
  const tags = runs.flatMap((run) => run.tags).filter((tag) => Buffer.byteLength(tag) < 100);
  const tag = fc.oneof(inAnyCase(fc.constantFrom("a", ...tags)), piece);
  const status = fc.constantFrom(...STATUSES).map((value) => `status:${value}`);
  const id = fc
    .tuple(inAnyCase(fc.constantFrom(...runs.map((run) => run.id))), fc.integer({ min: 4, max: 36 }))
    .map(([value, length]) => `id:${value.slice(0, length)}`);
  const filter = fc
    .tuple(
      fc.constantFrom("", "-"),
      fc.constantFrom("config.lr", "config.seed", "config.a", "config.a.b", "config.b", "metrics.k", "attributes.a"),
      fc.constantFrom("<", "<=", ">", ">=", "=", "!="),
      fc.oneof(fc.constantFrom("0.1", "1", "13", "1e21", '""'), piece.map(quoted)),
    )
    .map((parts) => parts.join(""));
  return fc.oneof(
    { weight: 3, arbitrary: filter },
    { weight: 6, arbitrary: fc.tuple(field, piece).map(([prefix, text]) => prefix + written(text)) },
    {
      weight: 3,
      arbitrary: fc.tuple(fc.constantFrom("tag:", "tags:"), tag).map(([prefix, text]) => prefix + written(text)),
    },
    status,
    id,
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...FIELDS, "tag:", "status:"), patternOf(piece))
        .map(([prefix, pattern]) => `${prefix}re:/${pattern.replaceAll("/", String.raw`\/`)}/`),
    },
  );
}

/** Returns the texts that pieces are cut from: each text of a run, its decoded notes, and its joined summary. */
function textsOf(run: SearchedRun): string[] {
  const metadata = JSON.parse(run.metadata) as Record<string, unknown>;
  const notes = Object.values(metadata).filter((value) => typeof value === "string" && value !== "") as string[];
  const joined = `${run.project} ${run.name} ${run.tags.join(" ")} ${run.status} ${run.id} ${run.displayStatus}`;
  return [run.project, run.name, run.config, run.metadata, joined, run.displayStatus, ...run.tags, ...notes];
}

/** Returns 1 to 10 characters of one of the texts, from anywhere or near its end, in any case, never blank. */
function pieceOf(texts: readonly string[]): fc.Arbitrary<string> {
  const indexes = fc.oneof(fc.nat(), fc.integer({ min: -80, max: -1 }));
  const piece = fc
    .tuple(
      fc.constantFrom(...texts.map((text) => Array.from(text.toWellFormed()))),
      indexes,
      fc.integer({ min: 1, max: 10 }),
    )
    .map(([chars, index, length]) => {
      const start = index < 0 ? Math.max(0, chars.length + index) : index % chars.length;
      return chars.slice(start, start + length).join("");
    });
  return inAnyCase(piece).map((text) => (text.trim() === "" ? `${text}a` : text));
}

function inAnyCase(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(text, fc.constantFrom("as it is", "lower", "upper")).map(([value, how]) => {
    if (how === "as it is") return value;
    return value.replace(/[a-z]/gi, (letter) => (how === "lower" ? letter.toLowerCase() : letter.toUpperCase()));
  });
}

/** Returns a text as a word if that is safe, otherwise as a phrase. */
function written(text: string): string {
  if (/^[\p{L}\p{N}_%][\p{L}\p{N}_%.'"\\/-]*$/u.test(text)) return text;
  return quoted(text);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, String.raw`\$&`)}"`;
}

/** Returns patterns that contain a piece; empty text matches none of them. */
function patternOf(piece: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const literal = piece.map((text) =>
    Array.from(text.replaceAll("\0", ""))
      .slice(0, 5)
      .join("")
      .replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`),
  );
  const some = literal.map((text) => text || "a");
  return fc.oneof(
    some,
    some.map((text) => `^${text}`),
    some.map((text) => `${text}$`),
    some.map((text) => `.${text}+`),
    some.map((text) => String.raw`[^a]${text}|\d[ks]`),
    fc.tuple(some, some).map(([left, right]) => `${left}.*${right}`),
    fc.tuple(some, some).map(([left, right]) => `(?:${left}|${right})`),
  );
}
