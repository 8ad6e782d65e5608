import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { found } from "../list/list-pages.fixture.ts";
import { startRuns, type RunsFixture } from "../runs.fixture.ts";
import { DONE, DRAFT, KELVIN, LISTS, OTTER, PLAIN, call, others, storeSeeds, type Row } from "./seeds.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
  await storeSeeds(fixture);
});
afterAll(() => fixture.close());

describe("a word", () => {
  test.each<Row>([
    ["is found in the name", "otter", [OTTER]],
    ["is found in any case", "oTTeR", [OTTER]],
    ["is found within a word", "tte", [OTTER]],
    ["is found in the project", "vision", [OTTER]],
    ["is found in a tag", "line", [OTTER]],
    ["is found in the notes", "nextly", [OTTER]],
    ["is found in the config", "adam", [OTTER]],
    ["is found in the metadata", "hidden", [OTTER]],
    ["is found in the id", "0002-0000-4000", [DONE]],
    ["is found in the stored status", "finished", [DONE, DRAFT]],
    ["is found in the stored status of a stopping run", "running", [OTTER, PLAIN]],
    ["is found in the status that is shown", "stopping", [OTTER]],
    ["is found in both", "stopped", [DRAFT, KELVIN]],
    ["is not found across the summary's parts", "visioncalm", []],
    ["is found in all: too", "all:adam", [OTTER]],
    ["that begins with a minus is text", "-otter", []],
    ["that is a negative number is text", "-1", []],
    ["that begins with a minus is found where it stands", "-4000", others()],
    ["with a quote inside is text", 'seed":13', [OTTER]],
    ["with an unknown field is text", "foo:bar", []],
    ["with a field in capitals is text", "Tag:x", []],
    ["of lower case that could be an operator is text", "and", [DRAFT]],
    ["with every other: all must occur", "otter adam vision", [OTTER]],
    ["with another that does not occur finds nothing", "otter plain", []],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("a phrase", () => {
  test.each<Row>([
    ["is found across the parts of the summary", '"vision calm otter 3 base line b É first"', [OTTER]],
    [
      "is found up to the status that is shown",
      '"last running aaaa0001-0000-4000-8000-00000000000a stopping"',
      [OTTER],
    ],
    ["is found without parts that a run has not", '"default plain running dddd0005"', [PLAIN]],
    ["is not found across two texts", '"00a stopping {"', []],
    ["keeps its spaces", '"calm  otter"', []],
    ["keeps those at its ends", '" otter "', [OTTER]],
    ["may hold a quote", String.raw`"\"seed\":13"`, [OTTER]],
    ["may hold a backslash", String.raw`"done\\ok"`, [DONE]],
    ["leaves other backslashes alone", String.raw`"done\ok"`, [DONE]],
    ["may hold operators", '"draft"', [DRAFT]],
    ["may hold parentheses", '"(draft"', [DRAFT]],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("a field", () => {
  test.each<Row>([
    ["name is found in the name", "name:OTTER", [OTTER]],
    ["name is not found in the project", "name:vision", []],
    ["name takes a phrase", 'name:"calm otter"', [OTTER]],
    ["project is found in the project", "project:visi", [OTTER]],
    ["project is found in any of them", "project:e", [DRAFT, KELVIN, LISTS, PLAIN]],
    ["project is not found in the name", "project:otter", []],
    ["project of another organization finds nothing of it", "project:vision -project:vision", []],
    ["notes is metadata.notes", 'notes:"first: \\"x\\""', [OTTER]],
    ["notes is metadata.note", "notes:nextly", [OTTER]],
    ["notes is metadata.description", "notes:desc", [OTTER]],
    ["notes is metadata.summary", "notes:summ", [OTTER]],
    ["notes is metadata.comment", "notes:last", [OTTER]],
    ["notes are joined by spaces in this order", 'notes:"\\"x\\" nextly desc summ last"', [OTTER]],
    ["notes are not another member", "notes:hidden", []],
    ["notes are not a member of a member", "notes:deep", []],
    ["notes are not a member of the config", "notes:these", []],
    ["notes are not numbers", "notes:7", []],
    ["notes are not lists", "notes:seven", []],
    ["notes are not objects", "notes:eight", []],
    ["notes are not booleans", "notes:true", []],
    ["notes are named in lower case", "notes:capital", []],
    [
      "config is compact JSON, keys sorted",
      String.raw`config:"{\"lr\":0.10,\"opt\":{\"betas\":[0.9,0.999],\"name\":\"adam\"},\"seed\":13}"`,
      [OTTER],
    ],
    ["config keeps the digits of numbers", "config:0.10", [OTTER]],
    ["config holds escapes as JSON writes them", String.raw`config:c:\\tmp\n`, [DONE]],
    ["config is not the metadata", "config:hidden", []],
    [
      "metadata is compact JSON, keys sorted",
      String.raw`metadata:"\"last\",\"description\":\"desc\",\"note\""`,
      [OTTER],
    ],
    ["metadata is not the config", "metadata:adam", []],
    ["tag is a whole tag", "tag:b", [OTTER]],
    ["tag is any of them", "tag:x", [DONE]],
    ["part of a tag does not match", "tag:line", []],
    ["the beginning of a tag does not match", 'tag:"tag with"', []],
    ["tag takes a phrase", 'tag:"Base Line"', [OTTER]],
    ["tags says the same", 'tags:"tag with spaces"', [DONE]],
    ["tag keeps the spaces of a phrase", 'tag:" b"', []],
    ["tag takes one word", "tag:base line", []],
    ["tag has its letters beyond ASCII as they are", "tag:É", [OTTER]],
    ["tag has them not in another case", "tag:é", []],
    ["status is the one that is shown: running", "status:running", [PLAIN]],
    ["status is the one that is shown: stopping", "status:stopping", [OTTER]],
    ["status is the one that is shown: stopped", "status:stopped", [DRAFT, KELVIN]],
    ["status is the one that is shown: finished", "status:finished", [DONE]],
    ["status is the one that is shown: failed", "status:failed", [LISTS]],
    ["status takes a phrase", 'status:"failed"', [LISTS]],
    ["id is a beginning", "id:aaaa", [DONE, OTTER]],
    ["id is found in any case", "id:AAAA0001", [OTTER]],
    ["id is a beginning with hyphens", "id:aaaa0002-0000-4", [DONE]],
    ["id ends at a hyphen", "id:aaaa0002-", [DONE]],
    ["id is all of it", "id:bbbb0003-0000-4000-8000-00000000000c", [KELVIN]],
    ["the middle of an id does not match", "id:0000", []],
    ["id longer than one finds nothing", "id:bbbb0003-0000-4000-8000-00000000000c0", []],
    ["id that is invalid finds nothing", "id:zzzz", []],
    ["id of four bytes that are two letters finds nothing", "id:éé", []],
    ["id takes a phrase", 'id:"dddd"', [LISTS, PLAIN]],
    ["id with a wildcard finds nothing", "id:dddd%", []],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("LIKE's wildcards are text", () => {
  test.each<Row>([
    ["a percent sign", "%", [DONE]],
    ["an underscore", "_", [DONE]],
    ["a backslash", String.raw`\o`, [DONE]],
    ["all of them", String.raw`name:100%_done\ok`, [DONE]],
    ["a percent sign is not a wildcard", "cal%otter", []],
    ["an underscore is not a wildcard", "o_ter", []],
    ["an escaped percent sign is two characters", String.raw`100\%`, []],
    ["in the project", "project:_", [DONE]],
    ["in the config", "config:5%", [DONE]],
    ["in a tag", "tag:%", []],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});

describe("beyond ASCII", () => {
  test.each<Row>([
    ["a letter is found as it is", "É", [OTTER]],
    ["a letter is not found in another case", "é", []],
    ["the kelvin sign is not a k", "kelvin", []],
    ["the kelvin sign is one", "\u{212A}elvin", [KELVIN]],
    ["the long s is one", "name:\u{17F}", [KELVIN]],
    ["a character of four bytes", "\u{1F600}", [KELVIN]],
    ["a tag of such characters", 'tag:"Ünïcode \u{1F600}"', [KELVIN]],
    ["its ASCII letters have no case", 'tag:"ÜNïCODE \u{1F600}"', [KELVIN]],
    ["another white space separates words", "otter\u{3000}vision", [OTTER]],
    ["one around the query does not count", "\u{3000}otter\u{85}", [OTTER]],
    ["a text that no database holds finds nothing", "name:\u{D800}", []],
    ["and excluded finds everything", "-name:\u{D800}", others()],
    ["NUL finds nothing", "a\0b", []],
  ])("%s: %s", async (_what, q, names) => {
    expect(await found(fixture, call, q)).toEqual([...names].toSorted());
  });
});
