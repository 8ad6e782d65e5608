import { describe, expect, test } from "@jest/globals";
import { readDocument } from "@tidemark/documents";
import { notesOf, withNotes } from "./run-notes.rules.ts";

const document = (text: string) => readDocument(new TextEncoder().encode(text), "x");

describe("notes", () => {
  test.each([
    ['{"notes":"n"}', "n"],
    ['{"notes":""}', ""],
    ["{}", undefined],
    ['{"notes":null}', undefined],
    ['{"notes":1}', undefined],
    ['{"notes":["n"]}', undefined],
    ['{"__proto__":{"notes":"n"}}', undefined],
  ])("of %s are %j", (metadata, notes) => {
    expect(notesOf(document(metadata))).toBe(notes);
  });

  test("are replaced and removed without touching anything else", () => {
    const metadata = document('{"a":1,"notes":"old"}');
    expect(notesOf(withNotes(metadata, "new"))).toBe("new");
    expect(withNotes(metadata, "")).toEqual(document('{"a":1}'));
    expect(notesOf(metadata)).toBe("old");
  });
});
