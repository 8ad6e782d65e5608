import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { classes } from "./class-names.ts";
import "./field.css";

/** A box that is on or off, or neither (`mixed`). */
export function Checkbox({
  label,
  hideLabel = false,
  hint,
  checked,
  mixed = false,
  disabled = false,
  onChange,
}: {
  readonly label: string;
  readonly hideLabel?: boolean;
  readonly hint?: ComponentChildren;
  readonly checked: boolean;
  readonly mixed?: boolean;
  readonly disabled?: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  const id = useId();
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = mixed;
  }, [mixed]);
  return (
    <div class="tm-check">
      <input
        ref={box}
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id} class={classes(hideLabel && "tm-hidden")}>
        {label}
        {hint !== undefined && (
          <span id={`${id}-hint`} class="tm-hint">
            {hint}
          </span>
        )}
      </label>
    </div>
  );
}
