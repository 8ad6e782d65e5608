import { useMemo, useState } from "preact/hooks";
import { runAddress } from "../../../app/addresses.ts";
import { Link } from "../../../app/location.tsx";
import { RunSwatch } from "../../../charts/index.ts";
import { useCatalogue } from "../../../charts/keys/use-catalogue.ts";
import { groupId, groupName } from "../../../charts/series/read-groups.ts";
import type { GroupBy } from "../../../charts/state/chart-state.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../../ui/page-states.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { counted, countWords } from "../../../ui/words.ts";
import { Skeleton } from "../../../ui/spinner.tsx";
import { cellWords, columnLabel, isLookedUp, settingWords, valueWords } from "../table/columns.ts";
import { groupToggle, LINES_MAX } from "../runs/shown-runs.ts";
import { RUNS_DRAWN_MAX, useRunColumns } from "../runs/use-runs.ts";
import { groupColumns, groupRuns, searchOfGroup, type RunGroup, type Spread } from "./run-groups.ts";

/** Groups and runs of a group that are listed before the user asks for more. */
const LISTED = 100;

const NO_RUNS: readonly string[] = [];

/** Which runs the charts leave out, and how runs come and go. */
type Shown = {
  readonly hidden: ReadonlySet<string>;
  readonly onShow: (runIds: readonly string[], isOn: boolean) => void;
};

/** Runs of a project in groups: what they share, how many they are, and how the numbers of the table's columns spread. */
export function GroupTable({
  project,
  q,
  cols,
  by,
  version,
  hidden,
  onShow,
  onSearch,
  onSweep,
}: Shown & {
  readonly project: { readonly id: string; readonly name: string };
  readonly q: string;
  /** The columns of the table. */
  readonly cols: readonly string[];
  readonly by: GroupBy;
  readonly version: number;
  readonly onSearch: (q: string) => void;
  /** Shows the parameters of the runs that a search finds. */
  readonly onSweep: (q: string) => void;
}) {
  const configs = useCatalogue(project.id, "config", NO_RUNS, by.allBut, 0);
  const isReady = !by.allBut || configs.names !== undefined;
  const values = cols.filter(isLookedUp);
  const names = isReady ? groupColumns(by, configs.names ?? [], values) : [];
  const looked = [...new Set([...names.filter(isLookedUp), ...values])];
  const { runs, total, error, retry } = useRunColumns(project.id, q, looked, version, isReady);
  const shown = values.filter((name) => !names.includes(name));
  const groups = useMemo(
    () => (runs === undefined ? undefined : groupRuns(runs, names, shown)),
    [runs, names.join("\n"), shown.join("\n")],
  );
  const [listed, setListed] = useState(LISTED);
  if (error !== undefined || configs.error !== undefined)
    return <ErrorNote error={error ?? configs.error} onRetry={retry} />;
  if (groups === undefined) return <Skeleton lines={8} height="28px" />;
  if (groups.length === 0)
    return (
      <EmptyState title="No runs match" icon="search">
        No run of this project passes the search.
      </EmptyState>
    );
  return (
    <div class="tm-groups" role="region" aria-label="Groups of runs" tabIndex={0}>
      <table class="tm-list-table">
        <caption>
          {`${counted(groups.length, "group")} by ${names.length === 0 ? "nothing" : names.map(columnLabel).join(", ")}. Numbers are means, with standard deviations.`}
          {total > RUNS_DRAWN_MAX && ` Of the newest ${counted(RUNS_DRAWN_MAX, "run")} of ${counted(total, "run")}.`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col" class="tm-number">
              Runs
            </th>
            {shown.map((name) => (
              <th key={name} scope="col" class="tm-number" title={name}>
                {columnLabel(name)}
              </th>
            ))}
          </tr>
        </thead>
        {groups.slice(0, listed).map((group) => (
          <GroupRows
            key={group.id}
            project={project.name}
            by={names}
            shown={shown}
            group={group}
            q={q}
            hidden={hidden}
            onShow={onShow}
            onSearch={onSearch}
            onSweep={onSweep}
          />
        ))}
      </table>
      {groups.length > listed && (
        <Button
          size="s"
          onClick={() => setListed(listed + LISTED)}
        >{`Show more of ${counted(groups.length, "group")}`}</Button>
      )}
    </div>
  );
}

function GroupRows({
  project,
  by,
  shown,
  group,
  q,
  hidden,
  onShow,
  onSearch,
  onSweep,
}: Shown & {
  readonly project: string;
  readonly by: readonly string[];
  readonly shown: readonly string[];
  readonly group: RunGroup;
  readonly q: string;
  readonly onSearch: (q: string) => void;
  /** Shows the parameters of the runs that a search finds. */
  readonly onSweep: (q: string) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const name = nameOf(by, group);
  const lineId = groupId(groupName(Object.fromEntries(by.map((column, i) => [column, group.values[i]]))));
  const search = searchOfGroup(by, group.values);
  const toggle = groupToggle(
    group.runs.map(({ id }) => id),
    hidden,
  );
  return (
    <tbody>
      <tr>
        <th scope="row">
          <div class="tm-group-head">
            <Eye
              of={`${name} (${countWords(toggle.ids.length)} of ${counted(group.runs.length, "run")})`}
              isOn={!toggle.isOn}
              fault={
                !toggle.isOn && toggle.ids.length > LINES_MAX
                  ? `Too many runs to hide; exclude them with the search`
                  : undefined
              }
              onToggle={() => onShow(toggle.ids, toggle.isOn)}
            />
            <RunSwatch runId={lineId} />
            <div>
              <button type="button" class="tm-group-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
                {name}
              </button>
              {search !== undefined && search !== "" && (
                <>
                  <IconButton
                    icon="search"
                    label="Only these"
                    title="Only these: search for the runs of this group"
                    size="s"
                    onClick={() => onSearch([q, search].filter((part) => part.trim() !== "").join(" "))}
                  />
                  <IconButton
                    icon="chart"
                    label="Sweep"
                    title="Sweep: best run so far, parameter importance and parallel coordinates of this group"
                    size="s"
                    onClick={() => onSweep([q, search].filter((part) => part.trim() !== "").join(" "))}
                  />
                </>
              )}
            </div>
          </div>
        </th>
        <td class="tm-number">{group.runs.length}</td>
        {shown.map((column) => (
          <td key={column} class="tm-number">
            <SpreadWords spread={group.spreads.get(column)} runs={group.runs.length} />
          </td>
        ))}
      </tr>
      {isOpen &&
        group.runs.slice(0, LISTED).map((run) => (
          <tr key={run.id} class="tm-group-run">
            <th scope="row">
              <div class="tm-group-head">
                <Eye of={run.name} isOn={!hidden.has(run.id)} onToggle={() => onShow([run.id], hidden.has(run.id))} />
                <RunSwatch runId={lineId} />
                <Link href={runAddress(project, run.id)}>{run.name}</Link>
              </div>
            </th>
            <td />
            {shown.map((column) => (
              <td key={column} class="tm-number">
                {cellWords(run, column)}
              </td>
            ))}
          </tr>
        ))}
      {isOpen && group.runs.length > LISTED && (
        <tr class="tm-group-run">
          <td colSpan={2 + shown.length} class="tm-muted">{`The newest ${counted(LISTED, "run")} are listed.`}</td>
        </tr>
      )}
    </tbody>
  );
}

function Eye({
  of,
  isOn,
  fault,
  onToggle,
}: {
  readonly of: string;
  readonly isOn: boolean;
  /** Why it cannot be used. */
  readonly fault?: string | undefined;
  readonly onToggle: () => void;
}) {
  return (
    <IconButton
      icon={isOn ? "eye" : "eye-off"}
      label={fault ?? `${isOn ? "Hide" : "Show"} the lines of ${of}`}
      disabled={fault !== undefined}
      size="s"
      pressed={isOn}
      onClick={onToggle}
    />
  );
}

function SpreadWords({ spread, runs }: { readonly spread: Spread | undefined; readonly runs: number }) {
  if (spread === undefined) return <span class="tm-muted">–</span>;
  const { mean, std, count } = spread;
  return (
    <span title={count === runs ? undefined : `${count} of ${runs} runs have a value`}>
      {valueWords(Number(mean.toPrecision(4)))}
      {count > 1 && <span class="tm-muted">{` ± ${valueWords(Number(std.toPrecision(2)))}`}</span>}
      {count < runs && <span class="tm-muted">{` (${count})`}</span>}
    </span>
  );
}

/** Returns what the runs of a group share, in words. */
function nameOf(by: readonly string[], { values }: RunGroup): string {
  if (by.length === 0) return "All runs";
  return by
    .map((name, i) => {
      const value = values[i];
      if (name === "tags") return (value as readonly string[]).join(", ") || "no tags";
      return `${columnLabel(name)} = ${value === null ? "none" : settingWords(value)}`;
    })
    .join(", ");
}
