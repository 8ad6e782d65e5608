import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { BLOCK_KINDS, blockWords, draftOf, insertBlock, moveBlock, newBlock, storedBlocks } from "./blocks.ts";

const draft = draftOf(["a", "b", "c"].map((text) => ({ kind: "markdown", text })));
const texts = (blocks: typeof draft) => blocks.map(({ block }) => ("text" in block ? block.text : block.kind)).join("");

test("blocks move and keep their keys", () => {
  const moved = moveBlock(draft, 0, 2);
  expect(texts(moved)).toBe("bca");
  expect(moved.map(({ key }) => key)).toEqual([1, 2, 0]);
  expect(moveBlock(draft, 0, -5)).toBe(draft);
  expect(texts(moveBlock(draft, 0, 99))).toBe("bca");
  expect(moveBlock(draft, 7, 0)).toBe(draft);
});

test("moving never loses a block", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer(), fc.integer())), (moves) => {
      let blocks = draft;
      for (const [from, to] of moves) blocks = moveBlock(blocks, Math.abs(from) % 3, to);
      expect(texts(blocks).split("").toSorted().join("")).toBe("abc");
    }),
  );
});

test("a new block has a key of its own", () => {
  const more = insertBlock(moveBlock(draft, 2, 0), 1, newBlock("heading", undefined));
  expect(more.map(({ key }) => key)).toEqual([2, 3, 0, 1]);
});

test("every kind can be added and has a name", () => {
  for (const { kind, label } of BLOCK_KINDS) expect(blockWords(newBlock(kind, "p"))).toBe(label);
  expect(newBlock("panel_grid", "p")).toMatchObject({ runsets: [{ projects: ["p"] }] });
});

test("images without an address are not stored yet", () => {
  const blocks = draftOf([newBlock("image", undefined), { kind: "image", url: "/a" }]);
  expect(storedBlocks(blocks)).toEqual([{ kind: "image", url: "/a" }]);
});
