import type { ListedProject } from "../../api/project-id.ts";
import { LANGUAGES } from "@tidemark/report-blocks/languages";
import { IconButton } from "../../ui/button.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { BlockView } from "./report-text.tsx";
import { blockWords } from "./blocks.ts";
import { PanelGridEditor } from "./panel-grid-editor.tsx";
import type { Block } from "./report-types.ts";

type Change = { readonly onChange: (block: Block) => void };

/** A block with its fields, and handles to move and delete it. Alt with the arrow keys moves it as well. */
export function BlockEditor({
  block,
  place,
  count,
  project,
  onChange,
  onMove,
  onRemove,
  onDrag,
}: Change & {
  readonly block: Block;
  readonly place: number;
  readonly count: number;
  readonly project: ListedProject | undefined;
  readonly onMove: (by: number) => void;
  readonly onRemove: () => void;
  readonly onDrag: (isDragged: boolean) => void;
}) {
  const name = `${blockWords(block)}, block ${place + 1} of ${count}`;
  return (
    <section
      class="tm-block-box"
      aria-label={name}
      onKeyDown={(event) => {
        if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
        event.preventDefault();
        onMove(event.key === "ArrowUp" ? -1 : 1);
      }}
    >
      <header draggable onDragStart={() => onDrag(true)} onDragEnd={() => onDrag(false)}>
        <span class="tm-block-grip" aria-hidden="true" />
        <span class="tm-muted">{blockWords(block)}</span>
        <span class="tm-reports-actions">
          <IconButton
            icon="chevron-up"
            size="s"
            label="Move block up"
            disabled={place === 0}
            onClick={() => onMove(-1)}
          />
          <IconButton
            icon="chevron-down"
            size="s"
            label="Move block down"
            disabled={place === count - 1}
            onClick={() => onMove(1)}
          />
          <IconButton icon="trash" size="s" label="Delete block" onClick={onRemove} />
        </span>
      </header>
      <Fields block={block} onChange={onChange} project={project} />
    </section>
  );
}

const LANGUAGE_CHOICES = ["plain", ...LANGUAGES.filter((name) => name !== "plain")].map((value) => ({
  value,
  label: value,
}));
const LEVELS = ["1", "2", "3"].map((value) => ({ value, label: `Level ${value}` }));
const VARIANTS = [
  { value: "info", label: "Note" },
  { value: "warn", label: "Warning" },
  { value: "success", label: "Success" },
] as const;

function Fields({
  block,
  onChange,
  project,
}: Change & { readonly block: Block; readonly project: ListedProject | undefined }) {
  switch (block.kind) {
    case "heading":
      return (
        <div class="tm-form-row tm-grow">
          <TextField
            label="Heading"
            hideLabel
            placeholder="Heading"
            value={block.text}
            onInput={(text) => onChange({ ...block, text })}
          />
          <Select
            label="Level"
            hideLabel
            value={String(block.level)}
            options={LEVELS}
            onChange={(level) => onChange({ ...block, level: Number(level) })}
          />
        </div>
      );
    case "paragraph":
    case "markdown":
      return (
        <>
          <TextField
            label="Text in Markdown"
            hideLabel
            placeholder="Text in Markdown"
            rows={Math.min(20, Math.max(3, block.text.split("\n").length + 1))}
            value={block.text}
            onInput={(text) => onChange({ ...block, text })}
          />
          {block.text.trim() !== "" && <BlockView block={block} data={{ from: "reader" }} />}
        </>
      );
    case "code":
      return (
        <>
          <Select
            label="Language"
            hideLabel
            value={block.language ?? "plain"}
            options={LANGUAGE_CHOICES}
            onChange={(language) => onChange({ ...block, language })}
          />
          <TextField
            label="Code"
            hideLabel
            mono
            rows={6}
            value={block.code}
            onInput={(code) => onChange({ ...block, code })}
          />
        </>
      );
    case "callout":
      return (
        <>
          <Select
            label="Kind"
            hideLabel
            value={block.variant ?? "info"}
            options={VARIANTS}
            onChange={(variant) => onChange({ ...block, variant })}
          />
          <TextField
            label="Text of the callout"
            hideLabel
            rows={3}
            value={block.text}
            onInput={(text) => onChange({ ...block, text })}
          />
        </>
      );
    case "image":
      return (
        <>
          <TextField
            label="Image address"
            hint="Images on this server are shown, for example the download address of a run’s file. Others become links."
            placeholder="/api/artifacts/…/download"
            value={block.url}
            onInput={(url) => onChange({ ...block, url })}
          />
          <TextField
            label="Caption"
            value={block.caption ?? ""}
            onInput={(caption) => onChange({ ...block, caption })}
          />
          {block.url.trim() !== "" && <BlockView block={block} data={{ from: "reader" }} />}
        </>
      );
    case "panel_grid":
      return <PanelGridEditor block={block} project={project} onChange={onChange} />;
    default:
      return <BlockView block={block} data={{ from: "reader" }} />;
  }
}
