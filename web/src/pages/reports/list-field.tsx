import { useState } from "preact/hooks";
import { TextField } from "../../ui/field.tsx";

/** A field for a list of names. While a person types, it keeps commas and spaces that the list does not have. */
export function ListField({
  label,
  hint,
  text,
  onInput,
}: {
  readonly label: string;
  readonly hint: string;
  /** The list, as a person edits it. */
  readonly text: string;
  readonly onInput: (text: string) => void;
}) {
  const [typed, setTyped] = useState<string>();
  return (
    <TextField
      label={label}
      hint={hint}
      mono
      value={typed ?? text}
      onInput={(next) => {
        setTyped(next);
        onInput(next);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
