import type { ComponentChildren } from "preact";
import { classes } from "./class-names.ts";
import "./field.css";

/** The props of every field of a form. */
export type FieldProps = {
  readonly label: string;
  /** The label is for assistive technology alone: the place says what the field is. */
  readonly hideLabel?: boolean;
  readonly hint?: ComponentChildren;
  /** The error of its value. */
  readonly error?: string | undefined;
};

/** The label, the hint and the fault of a field, around its control. */
export function Field({
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
export function describedBy(id: string, { hint, error }: Pick<FieldProps, "hint" | "error">): string | undefined {
  const ids = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`];
  return ids.filter((part) => part !== "").join(" ") || undefined;
}
