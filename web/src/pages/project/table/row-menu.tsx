import { addressOf } from "../../../api/base-path.ts";
import { mayControl, mayWrite, may } from "../../../api/session.ts";
import { compareAddress, runAddress } from "../../../app/addresses.ts";
import { navigate } from "../../../app/location.tsx";
import { ContextMenu, type MenuPlace } from "../../../ui/context-menu.tsx";
import type { MenuItem } from "../../../ui/menu.tsx";
import { counted } from "../../../ui/words.ts";
import type { BulkAction, BulkRun } from "../bulk/bulk.ts";
import { PINS_MAX, toggled, withShown, type TableRun } from "../runs/shown-runs.ts";
import { mayTransfer } from "../bulk/transfer-calls.ts";
import type { ProjectRuns } from "../runs/use-project-runs.ts";
import type { View } from "../view/use-view.ts";

/** The menu of a row: what can be done with its run, or with all selected runs where it is one of several. */
export function RowMenu({
  project,
  run,
  at,
  view: { state, change },
  runs,
  onLook,
  onAction,
  onClose,
}: {
  readonly project: string;
  readonly run: TableRun;
  readonly at: MenuPlace;
  readonly view: View;
  readonly runs: ProjectRuns;
  /** Opens the dialog in which runs get another color. */
  readonly onLook: (runs: readonly BulkRun[]) => void;
  /** Opens the dialog of an action on the selected runs. */
  readonly onAction: (kind: BulkAction["kind"]) => void;
  readonly onClose: () => void;
}) {
  const isOfMany = !runs.isAll && runs.selected.has(run.id) && runs.selectedRuns.length > 1;
  const targets: readonly BulkRun[] = isOfMany ? runs.selectedRuns : [run];
  const ids = targets.map(({ id }) => id);
  const of = isOfMany ? ` (${counted(targets.length, "run")})` : "";
  const drawn = new Set(runs.chartRuns?.map(({ id }) => id));
  const isDrawn = drawn.has(run.id);
  const act = (kind: BulkAction["kind"]) => () => {
    if (!isOfMany) runs.choose([run]);
    onAction(kind);
  };
  const compared = isOfMany ? ids : state.base === undefined || state.base === run.id ? [] : [state.base, run.id];
  const address = runAddress(project, run.id);
  const items: MenuItem[] = [
    { label: "Open", icon: "chart", hint: "Enter", onSelect: () => navigate(address) },
    { label: "Open in new tab", icon: "external", onSelect: () => void open(addressOf(address), "_blank", "noopener") },
    "line",
    {
      label: (isDrawn ? "Hide" : "Show") + of,
      icon: isDrawn ? "eye-off" : "eye",
      hint: "x",
      onSelect: () => change(withShown(state, ids, !isDrawn), { replace: true }),
    },
    {
      label: `Show only this${isOfMany ? " selection" : ""}`,
      icon: "filter",
      onSelect: () => {
        const shown = {
          ...state,
          ...withShown(
            state,
            [...drawn].filter((id) => !ids.includes(id)),
            false,
          ),
        };
        change(withShown(shown, ids, true), { replace: true });
      },
    },
    { label: `Change color…${of}`, icon: "edit", hint: "c", onSelect: () => onLook(targets) },
    {
      label: state.pin.includes(run.id) ? "Unpin" : "Pin",
      icon: "pin",
      hint: "p",
      onSelect: () => change({ pin: toggled(state.pin, run.id).slice(-PINS_MAX) }),
    },
    {
      label: state.base === run.id ? "Remove as baseline" : "Set as baseline",
      icon: "flag",
      hint: "b",
      onSelect: () => change({ base: state.base === run.id ? undefined : run.id }),
    },
    "line",
    ...(compared.length > 1
      ? [
          {
            label: isOfMany ? `Compare${of}` : "Compare with baseline",
            icon: "compare" as const,
            onSelect: () => navigate(`${compareAddress(project)}?sel=${compared.join(",")}`),
          },
        ]
      : []),
    { label: "Copy run ID", icon: "copy", onSelect: () => void navigator.clipboard.writeText(run.id) },
    ...(mayWrite() ? [{ label: `Add tag…${of}`, icon: "tag" as const, onSelect: act("add-tag") }] : []),
    ...(mayTransfer()
      ? [
          { label: `Move to project…${of}`, icon: "move" as const, onSelect: act("move") },
          { label: `Copy to project…${of}`, icon: "copy" as const, onSelect: act("copy") },
        ]
      : []),
    ...(mayControl() && (isOfMany || run.status === "running")
      ? [{ label: `Stop…${of}`, icon: "stop" as const, hint: "s", onSelect: act("stop") }]
      : []),
    ...(may("delete")
      ? (["line", { label: `Delete…${of}`, icon: "trash", danger: true, onSelect: act("delete") }] as const)
      : []),
  ];
  return <ContextMenu label={`Actions on ${run.name}`} items={items} at={at} onClose={onClose} />;
}
