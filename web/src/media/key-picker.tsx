import { useState } from "preact/hooks";
import { keyMatch } from "../charts/keys/sections.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Checkbox, TextField } from "../ui/field.tsx";

/** Keys that are listed at a time; a search finds the others. */
const LISTED_MAX = 200;

/** Chooses keys whose objects are shown; none means all. */
export function KeyPicker({
  keys,
  chosen,
  onChange,
  onClose,
}: {
  readonly keys: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState("");
  const { test } = keyMatch(text);
  const listed = keys.filter((key) => test(key)).slice(0, LISTED_MAX);
  return (
    <Dialog
      title="Keys"
      onClose={onClose}
      actions={
        <>
          <Button disabled={chosen.length === 0} onClick={() => onChange([])}>
            Show all
          </Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <TextField
        label="Search keys"
        type="search"
        value={text}
        onInput={setText}
        placeholder="samples, or re:/grid$/"
        autofocus
      />
      <div class="tm-picker-list" role="group" aria-label="Keys" tabIndex={0}>
        {listed.map((key) => (
          <Checkbox
            key={key}
            label={key}
            checked={chosen.includes(key)}
            onChange={(isOn) => onChange(isOn ? [...chosen, key] : chosen.filter((one) => one !== key))}
          />
        ))}
      </div>
    </Dialog>
  );
}
