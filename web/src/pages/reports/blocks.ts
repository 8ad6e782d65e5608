import type { Block } from "./report-types.ts";

/** A block in the editor, with a key that stays with it when it moves. */
export type DraftBlock = { readonly key: number; readonly block: Block };

/** The kinds that a person can add, with what they are called. */
export const BLOCK_KINDS = [
  { kind: "markdown", label: "Text" },
  { kind: "heading", label: "Heading" },
  { kind: "panel_grid", label: "Charts and runs" },
  { kind: "image", label: "Image" },
  { kind: "code", label: "Code" },
  { kind: "callout", label: "Callout" },
  { kind: "horizontal_rule", label: "Line" },
] as const;

/** A kind that a person can add. */
export type AddedKind = (typeof BLOCK_KINDS)[number]["kind"];

/** Makes an empty block of a kind; charts begin with the runs of the report's project. */
export function newBlock(kind: AddedKind, project: string | undefined): Block {
  if (kind === "heading") return { kind, level: 2, text: "" };
  if (kind === "markdown") return { kind, text: "" };
  if (kind === "code") return { kind, code: "", language: "python" };
  if (kind === "callout") return { kind, text: "", variant: "info" };
  if (kind === "image") return { kind, url: "" };
  if (kind === "horizontal_rule") return { kind };
  return {
    kind,
    runsets: [{ name: "Runs", projects: project === undefined ? [] : [project], pinned_run_ids: [] }],
    panels: [],
  };
}

/** Gives blocks keys. */
export function draftOf(blocks: readonly Block[]): readonly DraftBlock[] {
  return blocks.map((block, key) => ({ key, block }));
}

/** Returns blocks as they are stored: without those that the API refuses because they are not filled in yet. */
export function storedBlocks(draft: readonly DraftBlock[]): readonly Block[] {
  return draft.map(({ block }) => block).filter((block) => block.kind !== "image" || block.url.trim() !== "");
}

/** Puts a block behind another one, or first. */
export function insertBlock(draft: readonly DraftBlock[], at: number, block: Block): readonly DraftBlock[] {
  const key = draft.reduce((most, one) => Math.max(most, one.key), -1) + 1;
  return draft.toSpliced(at, 0, { key, block });
}

/** Moves a block so that it is at `to` afterwards; places beyond the ends are the ends. */
export function moveBlock(draft: readonly DraftBlock[], from: number, to: number): readonly DraftBlock[] {
  const moved = draft[from];
  const target = Math.min(Math.max(to, 0), draft.length - 1);
  return moved === undefined || target === from ? draft : draft.toSpliced(from, 1).toSpliced(target, 0, moved);
}

/** Says what a block is, for its heading and for those who hear the page. */
export function blockWords(block: Block): string {
  return (
    BLOCK_KINDS.find(({ kind }) => kind === block.kind)?.label ?? (block.kind === "paragraph" ? "Text" : "Summary")
  );
}
