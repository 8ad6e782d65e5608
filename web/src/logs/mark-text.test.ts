import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { markText } from "./mark-text.ts";

test("hits are marked in either case", () => {
  expect(markText("Loss and loss", "LOSS")).toEqual([
    { text: "Loss", isHit: true },
    { text: " and ", isHit: false },
    { text: "loss", isHit: true },
  ]);
  expect(markText("plain", " ")).toEqual([{ text: "plain", isHit: false }]);
});

test("nothing of the text is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string(), (text, wanted) => {
      expect(
        markText(text, wanted)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(text);
    }),
  );
});
