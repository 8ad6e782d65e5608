/**
 * How fast patterns are searched: `npm run bench -- regex [megabytes]` (16 by default). Every pattern reads so many
 * megabytes of texts of 32 KiB, none twice, so nothing is warm that would not be in use. CPU time of the process, the
 * better of two rounds.
 */
import { compileRegex, isRegexError, type Regex } from "@tidemark/regex";

const TEXT_LENGTH = 32 * 1024;
const megabytes = Number(process.argv[3] ?? 16);
const texts = Math.max(1, Math.round((megabytes * 1024 * 1024) / TEXT_LENGTH));

/** A linear congruential generator, so that every run reads the same texts. */
let seed = 1;
function below(limit: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
}

function textsOf(piece: () => string): string[] {
  return Array.from({ length: texts }, () => {
    const pieces: string[] = [];
    for (let length = 0; length < TEXT_LENGTH; length += pieces.at(-1)!.length) pieces.push(piece());
    // Joined through bytes: as flat as a text that comes from a database.
    return Buffer.from(pieces.join("").slice(0, TEXT_LENGTH), "utf16le").toString("utf16le");
  });
}

const pick = (of: string) => of[below(of.length)]!;
const notes = ["diverged at step", "loss is nan", "resumed from checkpoint", "cuda error: out of memory", "ok"];
const kinds: Readonly<Record<string, () => string>> = {
  json: () =>
    `{"lr":0.00${below(1000)},"seed":${below(9999)},"model":{"name":"resnet-${below(200)}","layers":${below(99)}},` +
    `"optimizer":"adam","notes":"run ${below(1000)} ${notes[below(notes.length)]} ${below(100_000)}"},`,
  "random a, b": () => pick("ab"),
  "mostly a, b": () => (below(60) === 0 ? pick("c ") : pick("ab")),
  "only a": () => "a".repeat(64),
  words: () => `${pick("abcdefgh")}${pick("abcdefgh_019")}${pick("abc ")}`,
  "not ASCII": () => pick("éаж日本語ü я"),
  astral: () => (below(2) === 0 ? "😀" : "𝒳a"),
};

const typical: readonly [pattern: string, kind: string][] = [
  ["diverged.*inf", "json"],
  ["resnet-[0-9]+x", "json"],
  ['"seed":1[0-9]{4}', "json"],
  ["\\bfoo\\w+", "json"],
  ["(?:adamw|sgd|rmsprop)", "json"],
  ["cuda.{0,200}nccl", "json"],
  ["(?:\\d{1,3}\\.){3}\\d{1,3}", "json"],
  ["[0-9a-f]{64}", "json"],
  ["^.*nan$", "json"],
  ["é.*xyz", "not ASCII"],
  ["\\pL{100}!", "not ASCII"],
  ["\\x{1F600}b", "astral"],
];

const adversarial: readonly [pattern: string, kind: string][] = [
  ["[ab]*a[ab]{20}c", "random a, b"],
  ["[ab]*a[ab]{20}c", "only a"],
  ["[ab]*a[ab]{1000}c", "random a, b"],
  ["[ab]*a[ab]{1000}c", "mostly a, b"],
  ["\\pL{1000}x", "random a, b"],
  ["\\pL{1000}x", "not ASCII"],
  ["[ab]*a(?:[ab]c?){500}z", "random a, b"],
  ["(?:[ab]c?){500}z", "mostly a, b"],
  ["[ab]*a(?:[ab]c?){120}z", "mostly a, b"],
  ["[ab]*a(?:a|b|c|d|e|f|g|h)*(?:a|b|ab|ba){40}z", "random a, b"],
  ["a(?:.\\w){55}z", "words"],
  ["a(?:.\\w){120}z", "words"],
  ["a(?:.\\w?\\d?){70}z", "words"],
  ["a(?:(?:ab?){5}c?){12}z", "mostly a, b"],
  ["a(?:(?:\\w.){3} ?){18}z", "words"],
  ["error (?:\\w+ ){1,100}failed", "words"],
  ["a (?:\\w+ ){1,100}zz", "words"],
  ["a.{300}\\w{300}b.{299}\\w{299}\\n", "words"],
  ["a.{0,300}b.{0,300}c.{0,300}[ab].{0,300}\\n", "words"],
  ["a[ab]{300}(?:.\\w){50}z", "random a, b"],
  ["\\b(?:a\\B|\\Bb|b\\b.){1,40}z", "words"],
  ["(?:a|ab|abc|abcd){100}z", "mostly a, b"],
  ["a.{30}(?:[ab]c*){30}\\b\\B.", "mostly a, b"],
  ["[ab]*a(?:|[ab]{30}){9}\\W{2,9}zz", "random a, b"],
  ["[ab]*a(?:[ab]*[a-f]{3,9}){9}[a-f]{5}yy", "random a, b"],
  ["a(?:.{2,9}\\w?){11}z", "words"],
  ["a(?:.\\w?\\d?){80}z", "words"],
  ["a[^a]*[^a]?(?:[^a].|[^a]?){0,30}[^a]+.{0,30}(?:[^a]|.{3,8})*zz", "words"],
  ["a.{60}b.{61}c.{62}d.{63}\\w.{64}\\d.{65}[ab].{66}\\n", "words"],
  ["[ab]*a[ab]{12}c|[ab]*b[ab]{13}d", "random a, b"],
];

function secondsFor(regex: Regex, list: readonly string[]): number {
  const before = process.cpuUsage();
  for (const text of list) regex.test(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function measure(pattern: string, kind: string, list: readonly string[]): string {
  const name = `${pattern.padEnd(46)} ${kind.padEnd(12)}`;
  try {
    const before = process.cpuUsage();
    compileRegex(pattern);
    const { user, system } = process.cpuUsage(before);
    // A new one for each round: what states cost to make belongs to it.
    const seconds = Math.min(...[0, 1].map(() => secondsFor(compileRegex(pattern), list)));
    const { test, cost } = compileRegex(pattern);
    const found = list.filter(test).length;
    const characters = list.length * TEXT_LENGTH;
    const all = (seconds / characters) * 128 * 1024 * 1024;
    return (
      `${name} ${((seconds * 1e9) / characters).toFixed(1).padStart(6)} of ${cost.toFixed(0).padStart(2)} ns/char ` +
      `${(characters / seconds / 1e6).toFixed(0).padStart(5)} M char/s ${all.toFixed(1).padStart(5)} s per 128 Mi ` +
      `${((user + system) / 1000).toFixed(0).padStart(4)} ms to compile, found in ${found} of ${list.length}`
    );
  } catch (error) {
    if (!isRegexError(error)) throw error;
    return `${name} refused: ${error.fault}`;
  }
}

for (const [title, cases] of Object.entries({ typical, adversarial })) {
  process.stdout.write(`${title}\n`);
  for (const [pattern, kind] of cases) process.stdout.write(`  ${measure(pattern, kind, textsOf(kinds[kind]!))}\n`);
}
