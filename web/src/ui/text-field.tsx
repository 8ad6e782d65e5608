import type { ComponentProps } from "preact";
import { useId } from "preact/hooks";
import { classes } from "./class-names.ts";
import { describedBy, Field, type FieldProps } from "./field.tsx";

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
