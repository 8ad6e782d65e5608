import { useState } from "preact/hooks";
import { exactJson } from "../../../api/exact-json.ts";
import { valueText } from "../../../api/exact-value.ts";
import type { AttributeRow } from "../../../api/run-types.ts";
import { useQuery } from "../../../api/use-answer.ts";
import { currentLocation, setQuery } from "../../../app/location.tsx";
import { Badge } from "../../../ui/status-badge.tsx";
import { Button, IconButton } from "../../../ui/button.tsx";
import { CopyButton, Snippet } from "../../../ui/copy-button.tsx";
import { EmptyState, ErrorNote } from "../../../ui/page-states.tsx";
import { Skeleton } from "../../../ui/spinner.tsx";
import { TextField } from "../../../ui/field.tsx";
import type { TabProps } from "../run-actions.ts";
import { configRows, isBranch, mergeConfig, type ConfigRow } from "./config-rows.ts";

/** Lines that are drawn at a time; more are shown on demand, and the search covers all. */
const ROWS_SHOWN = 500;

/** The settings of a run as a tree: its own, and those that its training logged as attributes. */
export function ConfigTab({ run, changes }: TabProps) {
  const read = useQuery<{ attributes: AttributeRow[] }>(
    `/api/runs/${run.id}/attributes?path_prefix=config/&limit=5000`,
    {
      version: changes.objects,
    },
  );
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [shown, setShown] = useState(ROWS_SHOWN);
  const search = currentLocation.value.query.get("find") ?? "";
  const { tree, added } = mergeConfig(run.config, read.data?.attributes ?? []);
  const rows = configRows(tree, { search, closed, added });
  const toggle = (path: string): void => {
    const next = new Set(closed);
    if (!next.delete(path)) next.add(path);
    setClosed(next);
  };
  const isEmpty = Object.keys(tree).length === 0;
  if (isEmpty && read.isLoading) return <Skeleton lines={8} height="22px" />;
  if (isEmpty) {
    return (
      <>
        <ErrorNote error={read.error} onRetry={read.reload} />
        <EmptyState title="This run has no config" icon="settings">
          <p>Log the settings of your training once, and runs can be compared, filtered and grouped by them.</p>
          <Snippet
            label="Log a config"
            text={'run.log_config({"optim": {"lr": 3e-4, "betas": [0.9, 0.99]}, "seed": 7})'}
          />
        </EmptyState>
      </>
    );
  }
  return (
    <div class="tm-config">
      <ErrorNote error={read.error} onRetry={read.reload} />
      <div class="tm-tools">
        <TextField
          label="Search the config"
          hideLabel
          type="search"
          placeholder="Search names and values"
          value={search}
          onInput={(text) => setQuery({ find: text }, { replace: true })}
        />
        <Button
          size="s"
          kind="quiet"
          icon="collapse"
          onClick={() => setClosed(new Set(configRows(tree).filter(isBranch).map(pathText)))}
        >
          Collapse all
        </Button>
        <Button size="s" kind="quiet" icon="expand" onClick={() => setClosed(new Set())}>
          Expand all
        </Button>
        <CopyButton text={exactJson(tree)}>Copy as JSON</CopyButton>
      </div>
      {rows.length === 0 && <p class="tm-muted">Nothing in the config matches “{search}”.</p>}
      <div class="tm-scroll-x" role="region" aria-label="Config" tabIndex={0}>
        <table class="tm-config-table">
          <thead class="tm-hidden">
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Value</th>
              <th scope="col">Type</th>
              <th scope="col">Actions</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <Row
                key={pathText(row)}
                row={row}
                isClosed={search === "" && closed.has(pathText(row))}
                onToggle={toggle}
              />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown && (
        <Button
          onClick={() => setShown(shown + ROWS_SHOWN * 4)}
        >{`Show more of the ${rows.length.toLocaleString("en-US")} lines`}</Button>
      )}
    </div>
  );
}

const pathText = (row: ConfigRow): string => JSON.stringify(row.path);

function Row({
  row,
  isClosed,
  onToggle,
}: {
  readonly row: ConfigRow;
  readonly isClosed: boolean;
  readonly onToggle: (path: string) => void;
}) {
  const hasMore = isBranch(row);
  return (
    <tr>
      <th scope="row" title={row.path.join(".")}>
        <span class="tm-config-name" style={{ paddingInlineStart: `${row.depth * 18}px` }}>
          {hasMore ? (
            <IconButton
              icon={isClosed ? "chevron-right" : "chevron-down"}
              label={isClosed ? `Expand ${row.name}` : `Collapse ${row.name}`}
              size="s"
              aria-expanded={!isClosed}
              onClick={() => onToggle(pathText(row))}
            />
          ) : (
            <span class="tm-config-leaf" />
          )}
          {row.name}
        </span>
      </th>
      <td class={hasMore ? "tm-muted" : `tm-config-value tm-config-${row.type}`}>
        {hasMore ? `${row.size} ${row.size === 1 ? "entry" : "entries"}` : valueText(row.value)}
      </td>
      <td>
        <span class="tm-muted">{row.type}</span>{" "}
        {row.fromAttribute && row.depth === 0 && <Badge title="Logged as an attribute by the training">logged</Badge>}
      </td>
      <td class="tm-config-copy">
        <CopyButton text={hasMore ? exactJson(row.value) : valueText(row.value)} label={`Copy ${row.path.join(".")}`} />
      </td>
    </tr>
  );
}
