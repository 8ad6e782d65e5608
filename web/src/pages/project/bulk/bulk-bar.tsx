import { compareAddress } from "../../../app/addresses.ts";
import { navigate } from "../../../app/location.tsx";
import { may, mayControl, mayWrite } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Menu, type MenuItem } from "../../../ui/menu.tsx";
import { countWords } from "../../../ui/words.ts";
import type { BulkAction, BulkRun } from "./bulk.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { mayTransfer, type Transfer } from "./transfer-calls.ts";
import { TransferDialog } from "./transfer-dialog.tsx";

/** Runs that can be compared. */
const COMPARED_MAX = 50;

/** Actions on the selected runs, or on all that the search finds. */
export function BulkBar({
  project,
  projectId,
  selected,
  isAll,
  total,
  q,
  action,
  onAction,
  onAll,
  onClear,
  onDone,
  onShow,
  onLook,
}: {
  readonly project: string;
  readonly projectId: string;
  readonly selected: readonly BulkRun[];
  /** Whether all runs are selected that the search finds. */
  readonly isAll: boolean;
  readonly total: number;
  readonly q: string;
  /** The action whose dialog is open. */
  readonly action: BulkAction["kind"] | undefined;
  readonly onAction: (kind: BulkAction["kind"] | undefined) => void;
  readonly onAll: () => void;
  readonly onClear: () => void;
  readonly onDone: () => void;
  /** Shows or hides the lines of the selected runs. */
  readonly onShow: (isOn: boolean) => void;
  /** Opens the dialog in which the selected runs get another color. */
  readonly onLook: () => void;
}) {
  const isAny = selected.length > 0 || isAll;
  const open = (kind: BulkAction["kind"]) => () => onAction(kind);
  const items: MenuItem[] = [
    { label: "Show in charts", icon: "eye", disabled: isAll, onSelect: () => onShow(true) },
    { label: "Hide from charts", icon: "eye-off", disabled: isAll, onSelect: () => onShow(false) },
    { label: "Change color…", icon: "edit", disabled: isAll, onSelect: onLook },
    ...(mayWrite() || mayControl() ? (["line"] as const) : []),
    ...(mayWrite()
      ? ([
          { label: "Add tag…", icon: "tag", onSelect: open("add-tag") },
          { label: "Remove tag…", icon: "tag", onSelect: open("remove-tag") },
          { label: "Replace notes…", icon: "edit", onSelect: open("notes") },
          { label: "Mark dead runs as failed…", icon: "flag", onSelect: open("end") },
        ] as const)
      : []),
    ...(mayTransfer()
      ? ([
          { label: "Move to project…", icon: "move", onSelect: open("move") },
          { label: "Copy to project…", icon: "copy", onSelect: open("copy") },
        ] as const)
      : []),
    ...(mayControl() ? ([{ label: "Stop…", icon: "stop", onSelect: open("stop"), hint: "s" }] as const) : []),
    ...(may("delete")
      ? (["line", { label: "Delete…", icon: "trash", danger: true, onSelect: open("delete") }] as const)
      : []),
  ];
  const count = isAll ? total : selected.length;
  return (
    <>
      {isAny && (
        <div class="tm-bulk" role="group" aria-label="Selected runs">
          <span role="status">{countWords(count)} selected</span>
          {!isAll && total > selected.length && (
            <Button size="s" kind="quiet" onClick={onAll}>
              {`Select all ${countWords(total)}`}
            </Button>
          )}
          <Button
            size="s"
            icon="compare"
            disabled={isAll || selected.length < 2 || selected.length > COMPARED_MAX}
            title={
              selected.length > COMPARED_MAX
                ? `At most ${COMPARED_MAX} runs can be compared`
                : "Compare the selected runs"
            }
            onClick={() => navigate(`${compareAddress(project)}?sel=${selected.map(({ id }) => id).join(",")}`)}
          >
            Compare
          </Button>
          <Menu label="Actions" items={items} button={{ size: "s" }}>
            Actions
          </Menu>
          <Button size="s" kind="quiet" onClick={onClear}>
            Clear
          </Button>
        </div>
      )}
      {isTransfer(action) && (
        <TransferDialog
          how={action}
          project={project}
          runs={isAll ? { projectId, q } : { ids: selected.map(({ id }) => id) }}
          count={count}
          onClose={() => onAction(undefined)}
          onDone={() => {
            onClear();
            onDone();
          }}
        />
      )}
      {action !== undefined && !isTransfer(action) && (
        <BulkDialog
          kind={action}
          projectId={projectId}
          chosen={isAll ? undefined : selected}
          q={q}
          onClose={() => onAction(undefined)}
          onDone={onDone}
        />
      )}
    </>
  );
}

function isTransfer(action: BulkAction["kind"] | undefined): action is Transfer {
  return action === "move" || action === "copy";
}
