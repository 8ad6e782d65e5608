import { useState } from "preact/hooks";
import type { AttributeRow, RunDetail } from "../../../api/run-types.ts";
import { useQuery } from "../../../api/use-answer.ts";
import { attempt } from "../../../ui/fault.ts";
import { Badge } from "../../../ui/status-badge.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { TextField } from "../../../ui/field.tsx";
import { changeRun } from "../run-actions.ts";
import { tagsOf } from "./tags.ts";

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
  const change = (next: readonly string[], told: string): void =>
    void attempt(() => changeRun(run.id, { tags: next }, { tags: run.tags }, told, reload));
  const add = (): void => {
    const tag = draft?.trim() ?? "";
    setDraft(undefined);
    if (tag !== "" && !run.tags.includes(tag)) change([...run.tags, tag], `Added the tag ${tag}.`);
  };
  return (
    <div class="tm-run-tags">
      <ul aria-label="Tags">
        {tags.map(({ tag, isOwn }) => (
          <li key={tag}>
            <Badge {...(isOwn ? {} : { title: "Logged by the training" })}>
              {tag}
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
      {canWrite && draft === undefined && (
        <Button kind="quiet" size="s" icon="tag" onClick={() => setDraft("")}>
          Add tag
        </Button>
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
