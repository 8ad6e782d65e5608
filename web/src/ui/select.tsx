import type { ComponentProps } from "preact";
import { useId } from "preact/hooks";
import { describedBy, Field, type FieldProps } from "./field.tsx";

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
