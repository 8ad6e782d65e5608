import { useState } from "preact/hooks";
import type { AttributeRow, RunDetail } from "../../../api/run-types.ts";
import { useQuery } from "../../../api/use-answer.ts";
import { attempt } from "../../../ui/fault.ts";
import { Badge } from "../../../ui/status-badge.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { classes } from "../../../ui/class-names.ts";
import { TextField } from "../../../ui/field.tsx";
import { changeRun } from "../run-actions.ts";
import { useIsNarrow } from "../../../ui/use-width.ts";
import { counted } from "../../../ui/words.ts";
import { tagsOf } from "./tags.ts";

/** Tags that are shown in the line of the header before one asks for all. */
const TAGS_SHOWN = 3;

/** Tags of a run: its own, which can be changed, and those that the training logged as attributes. */
export function RunTags({
  run,
  canWrite,
  reload,
}: {
  readonly run: RunDetail;
  readonly canWrite: boolean;
  readonly reload: () => void;
}) {
  const [draft, setDraft] = useState<string>();
  const logged = useQuery<{ attributes: AttributeRow[] }>(`/api/runs/${run.id}/attributes?type=tag&limit=500`);
  const tags = tagsOf(run.tags, logged.data?.attributes ?? []);
  const most = useIsNarrow() ? 1 : TAGS_SHOWN;
  const [isWhole, setWhole] = useState(false);
  const hidden = isWhole ? 0 : Math.max(0, tags.length - most);
  const change = (next: readonly string[], told: string): void =>
    void attempt(() => changeRun(run.id, { tags: next }, { tags: run.tags }, told, reload));
  const add = (): void => {
    const tag = draft?.trim() ?? "";
    setDraft(undefined);
    if (tag !== "" && !run.tags.includes(tag)) change([...run.tags, tag], `Added the tag ${tag}.`);
  };
  return (
    <div class={classes("tm-run-tags", isWhole && "tm-run-tags-all")}>
      <ul aria-label="Tags">
        {tags.slice(0, tags.length - hidden).map(({ tag, isOwn }) => (
          <li key={tag}>
            <Badge title={isOwn ? tag : `${tag}, logged by the training`}>
              <span class="tm-run-tag">{tag}</span>
              {canWrite && isOwn && (
                <IconButton
                  icon="close"
                  size="s"
                  class="tm-run-untag"
                  label={`Remove the tag ${tag}`}
                  onClick={() =>
                    change(
                      run.tags.filter((one) => one !== tag),
                      `Removed the tag ${tag}.`,
                    )
                  }
                />
              )}
            </Badge>
          </li>
        ))}
      </ul>
      {(hidden > 0 || isWhole) && (
        <Button
          kind="quiet"
          size="s"
          aria-expanded={isWhole}
          aria-label={isWhole ? "Show fewer tags" : `Show ${counted(hidden, "more tag")}`}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Fewer" : `+${hidden}`}
        </Button>
      )}
      {canWrite && draft === undefined && (
        <IconButton kind="quiet" size="s" icon="tag" label="Add tag" onClick={() => setDraft("")} />
      )}
      {draft !== undefined && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add();
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape") setDraft(undefined);
          }}
        >
          <TextField
            label="New tag"
            hideLabel
            placeholder="New tag"
            value={draft}
            onInput={setDraft}
            maxLength={512}
            autofocus
          />
          <Button type="submit" size="s">
            Add
          </Button>
        </form>
      )}
    </div>
  );
}
