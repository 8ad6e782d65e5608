import { useState } from "preact/hooks";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Checkbox, Select, TextField } from "../../../ui/field.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { useProjectKeys, type ProjectKey } from "../search/suggestions.ts";
import { columnLabel, columnName, COLUMNS_MAX, COLUMNS_USUAL, FIELD_NAMES, FIGURES, type Figure } from "./columns.ts";

/** Chooses the columns of the table from the fields of runs and the keys of the project. */
export function ColumnPicker({
  projectId,
  cols,
  onChange,
  onClose,
}: {
  readonly projectId: string | undefined;
  readonly cols: readonly string[];
  readonly onChange: (cols: readonly string[]) => void;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [figure, setFigure] = useState<Figure>("latest");
  const keys = useProjectKeys(projectId, text.trim());
  const fields = FIELD_NAMES.filter((name) => columnLabel(name).toLowerCase().includes(text.trim().toLowerCase()));
  const nameOf = ({ kind, name }: ProjectKey): string =>
    columnName(kind === "metric" ? { kind, key: name, figure } : { kind, key: name });
  const set = (name: string, isOn: boolean): void =>
    onChange(isOn ? [...cols, name].slice(0, COLUMNS_MAX) : cols.filter((one) => one !== name));
  const move = (index: number, by: number): void => {
    const next = [...cols];
    const [name] = next.splice(index, 1);
    next.splice(index + by, 0, name!);
    onChange(next);
  };
  const sections = [
    ["Config", keys.filter(({ kind }) => kind === "config")],
    ["Metrics", keys.filter(({ kind }) => kind === "metric")],
    ["Attributes", keys.filter(({ kind }) => kind === "attribute")],
  ] as const;
  return (
    <Dialog
      title="Columns"
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={() => onChange(COLUMNS_USUAL)}>Reset</Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div class="tm-picker">
        <div class="tm-picker-keys">
          <TextField
            label="Search keys"
            type="search"
            value={text}
            onInput={setText}
            placeholder="lr, or re:/loss$/"
            autofocus
          />
          <Select
            label="Metrics show"
            value={figure}
            options={FIGURES.map((value) => ({ value, label: value }))}
            onChange={setFigure}
          />
          <div class="tm-picker-list" role="group" aria-label="Keys" tabIndex={0}>
            {fields.map((name) => (
              <Checkbox
                key={name}
                label={columnLabel(name)}
                checked={cols.includes(name)}
                onChange={(isOn) => set(name, isOn)}
              />
            ))}
            {sections.map(
              ([title, list]) =>
                list.length > 0 && (
                  <section key={title}>
                    <h3>{title}</h3>
                    {list.map((key) => (
                      <Checkbox
                        key={key.name}
                        label={key.name}
                        checked={cols.includes(nameOf(key))}
                        disabled={key.name.includes(",")}
                        onChange={(isOn) => set(nameOf(key), isOn)}
                      />
                    ))}
                  </section>
                ),
            )}
          </div>
        </div>
        <div>
          <h3>Shown</h3>
          <ol class="tm-picker-list">
            {cols.map((name, i) => (
              <li key={name} class="tm-picker-shown">
                <span class="tm-grid-text" title={name}>
                  {columnLabel(name)}
                </span>
                <IconButton
                  icon="arrow-up"
                  size="s"
                  label={`Move ${columnLabel(name)} up`}
                  disabled={i === 0}
                  onClick={() => move(i, -1)}
                />
                <IconButton
                  icon="arrow-down"
                  size="s"
                  label={`Move ${columnLabel(name)} down`}
                  disabled={i === cols.length - 1}
                  onClick={() => move(i, 1)}
                />
                <IconButton
                  icon="close"
                  size="s"
                  label={`Remove ${columnLabel(name)}`}
                  onClick={() => set(name, false)}
                />
              </li>
            ))}
          </ol>
        </div>
      </div>
    </Dialog>
  );
}
