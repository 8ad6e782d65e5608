import type { ComponentChildren, ComponentProps } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import "./field.css";
import { classes } from "./class-names.ts";

/** The HTML attributes of text inputs that forms need. */
type Native = {
  readonly type?: "text" | "email" | "password" | "search" | "url" | "date" | "number";
  readonly name?: string;
  readonly placeholder?: string;
  readonly autocomplete?: "off" | "email" | "username" | "current-password";
  readonly autofocus?: boolean;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly readOnly?: boolean;
  readonly spellcheck?: boolean;
  readonly maxLength?: number;
  /** The id of a `datalist` with suggestions. */
  readonly list?: string;
  readonly min?: string;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly onBlur?: () => void;
};

/** A field of one line, or of several `rows`. `onInput` gets its text at each change. */
export function TextField({
  label,
  hideLabel,
  hint,
  error,
  value,
  onInput,
  mono = false,
  rows,
  type = "text",
  autocomplete = "off",
  ...rest
}: FieldProps &
  Native & {
    readonly value: string;
    readonly onInput: (value: string) => void;
    /** For keys, ids and queries. */
    readonly mono?: boolean;
    readonly rows?: number;
  }) {
  const id = useId();
  const facts = {
    id,
    value,
    class: classes("tm-input", mono && "tm-mono"),
    "aria-invalid": error !== undefined || undefined,
    "aria-describedby": describedBy(id, { hint, error }),
  };
  return (
    <Field id={id} label={label} hideLabel={hideLabel ?? false} hint={hint} error={error}>
      {rows === undefined ? (
        <input
          {...({ ...rest, ...facts, type, autocomplete } as ComponentProps<"input">)}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      ) : (
        <textarea {...rest} {...facts} rows={rows} onInput={(event) => onInput(event.currentTarget.value)} />
      )}
    </Field>
  );
}

/** One choice of a list. */
export type Option<Value extends string = string> = {
  readonly value: Value;
  readonly label: string;
  readonly disabled?: boolean;
};

/** A list of choices for selecting one. */
export function Select<Value extends string>({
  label,
  hideLabel,
  hint,
  error,
  value,
  options,
  onChange,
  ...rest
}: FieldProps &
  Omit<
    ComponentProps<"select">,
    "value" | "onChange" | "label" | "class" | "className" | "id" | "options" | "role" | "size" | "multiple"
  > & {
    readonly value: Value;
    readonly options: readonly Option<Value>[];
    readonly onChange: (value: Value) => void;
  }) {
  const id = useId();
  return (
    <Field id={id} label={label} hideLabel={hideLabel ?? false} hint={hint} error={error}>
      <select
        {...rest}
        id={id}
        class="tm-input tm-select"
        value={value}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={describedBy(id, { hint, error })}
        onChange={(event) => onChange(event.currentTarget.value as Value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** A field for one of many names: the browser lists those that have the text, and any other text is taken as well. */
export function ComboField({
  label,
  hint,
  value,
  options,
  onChange,
}: FieldProps & {
  readonly value: string;
  readonly options: readonly string[];
  /** Called with what was chosen, or typed when the field is left. */
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint}>
      <input
        id={id}
        class="tm-input tm-mono"
        list={`${id}-list`}
        autocomplete="off"
        value={value}
        aria-describedby={describedBy(id, { hint, error: undefined })}
        onChange={(event) => {
          const next = event.currentTarget.value.trim();
          if (next === "") event.currentTarget.value = value;
          else onChange(next);
        }}
      />
      <datalist id={`${id}-list`}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </Field>
  );
}

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

/** The props of every field of a form. */
type FieldProps = {
  readonly label: string;
  /** The label is for assistive technology alone: the place says what the field is. */
  readonly hideLabel?: boolean;
  readonly hint?: ComponentChildren;
  /** The error of its value. */
  readonly error?: string | undefined;
};

/** The label, the hint and the fault of a field, around its control. */
function Field({
  id,
  label,
  hideLabel = false,
  hint,
  error,
  children,
}: FieldProps & { readonly id: string; readonly children: ComponentChildren }) {
  return (
    <div class="tm-field">
      <label for={id} class={classes("tm-label", hideLabel && "tm-hidden")}>
        {label}
      </label>
      {children}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="tm-hint">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} class="tm-fault" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** Returns the ids of the texts that describe the control of a field. */
function describedBy(id: string, { hint, error }: Pick<FieldProps, "hint" | "error">): string | undefined {
  const ids = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`];
  return ids.filter((part) => part !== "").join(" ") || undefined;
}
