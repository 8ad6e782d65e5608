import { useEffect, useRef, useState } from "preact/hooks";
import type { ListedProject } from "../../api/project-id.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Menu } from "../../ui/menu.tsx";
import { TextField } from "../../ui/field.tsx";
import { toast } from "../../ui/toast.tsx";
import { BlockEditor } from "./block-editor.tsx";
import {
  BLOCK_KINDS,
  draftOf,
  insertBlock,
  moveBlock,
  newBlock,
  storedBlocks,
  type AddedKind,
  type DraftBlock,
} from "./blocks.ts";
import type { Block, Report } from "./report-types.ts";
import { useAutosave, type SaveState } from "./use-autosave.ts";

/** Writes a report: its blocks are edited in place, moved by hand or by keys, and saved by themselves. */
export function ReportEditor({
  report,
  project,
  reload,
}: {
  readonly report: Report;
  readonly project: ListedProject | undefined;
  readonly reload: () => void;
}) {
  const [title, setTitle] = useState(report.title);
  const [description, setDescription] = useState(report.description ?? "");
  const [blocks, setBlocks] = useState<readonly DraftBlock[]>(() => draftOf(report.blocks));
  const [announced, setAnnounced] = useState("");
  const [dragged, setDragged] = useState<number>();
  /** The place of the block that was just added. */
  const [added, setAdded] = useState<number>();
  const { state, overwrite } = useAutosave(report, { title, description, blocks: storedBlocks(blocks) });

  const move = (from: number, to: number): void => {
    const next = moveBlock(blocks, from, to);
    if (next === blocks) return;
    setBlocks(next);
    setAnnounced(`Moved to place ${Math.min(Math.max(to, 0), blocks.length - 1) + 1} of ${blocks.length}.`);
  };
  const change = (at: number, block: Block): void => setBlocks(blocks.with(at, { ...blocks[at]!, block }));
  const remove = (at: number): void => {
    const { block } = blocks[at]!;
    setBlocks(blocks.toSpliced(at, 1));
    toast("Deleted a block.", { undo: () => setBlocks((now) => insertBlock(now, at, block)) });
  };
  const add = (at: number, kind: AddedKind): void => {
    setBlocks(insertBlock(blocks, at, newBlock(kind, project?.name)));
    setAdded(at);
  };
  const list = useRef<HTMLOListElement>(null);
  // After the menu has given the focus back to its button.
  useEffect(() => {
    if (added === undefined) return undefined;
    const timer = setTimeout(() => {
      setAdded(undefined);
      const block = list.current?.children[added]?.querySelector("section");
      const field = block?.querySelector<HTMLElement>("input, textarea, .tm-run-choices input");
      (field ?? block?.querySelector<HTMLElement>("button:not(:disabled)"))?.focus();
    }, 0);
    return () => clearTimeout(timer);
  }, [added]);
  const takeTheirs = (): void => {
    reload();
    location.reload();
  };
  return (
    <div class="tm-report tm-report-editor">
      <h1 class="tm-hidden">Edit {report.title}</h1>
      <div class="tm-tools">
        <SaveNote state={state} onKeep={overwrite} onTake={takeTheirs} />
      </div>
      <TextField label="Title" value={title} onInput={setTitle} maxLength={512} />
      <TextField label="Description" value={description} onInput={setDescription} maxLength={512} />
      <AddBlock onAdd={(kind) => add(0, kind)} />
      <ol ref={list} class="tm-blocks" aria-label="Blocks">
        {blocks.map(({ key, block }, at) => (
          <li
            key={key}
            class={dragged === at ? "tm-block tm-block-dragged" : "tm-block"}
            onDragOver={(event) => {
              if (dragged === undefined) return;
              event.preventDefault();
              if (dragged !== at) {
                move(dragged, at);
                setDragged(at);
              }
            }}
            onDrop={(event) => {
              event.preventDefault();
              setDragged(undefined);
            }}
          >
            <BlockEditor
              block={block}
              place={at}
              count={blocks.length}
              project={project}
              onChange={(next) => change(at, next)}
              onMove={(by) => move(at, at + by)}
              onRemove={() => remove(at)}
              onDrag={(isDragged) => setDragged(isDragged ? at : undefined)}
            />
            <AddBlock onAdd={(kind) => add(at + 1, kind)} />
          </li>
        ))}
      </ol>
      <p class="tm-hidden" role="status">
        {announced}
      </p>
    </div>
  );
}

function AddBlock({ onAdd }: { readonly onAdd: (kind: AddedKind) => void }) {
  return (
    <Menu
      label="Add block"
      button={{ icon: "plus", kind: "quiet", size: "s" }}
      items={BLOCK_KINDS.map(({ kind, label }) => ({ label, onSelect: () => onAdd(kind) }))}
    >
      Add block
    </Menu>
  );
}

function SaveNote({
  state,
  onKeep,
  onTake,
}: {
  readonly state: SaveState;
  readonly onKeep: () => void;
  readonly onTake: () => void;
}) {
  if (state === "conflict") {
    return (
      <div class="tm-conflict" role="alert">
        <p>Someone else changed this report in the meantime. Your changes since then were not saved.</p>
        <Button size="s" onClick={onKeep}>
          Keep mine
        </Button>
        <Button size="s" onClick={onTake}>
          Load theirs
        </Button>
      </div>
    );
  }
  if (typeof state === "object") return <ErrorNote error={state.error} onRetry={onKeep} />;
  return (
    <span class="tm-muted" role="status">
      {state === "saved" ? "All changes saved" : "Saving…"}
    </span>
  );
}
