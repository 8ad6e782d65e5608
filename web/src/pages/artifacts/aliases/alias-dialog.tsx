import { useState } from "preact/hooks";
import { useQuery } from "../../../api/use-answer.ts";
import type { Version } from "../../../artifacts/artifact-types.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt } from "../../../ui/fault.ts";
import { TextField } from "../../../ui/field.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { toast } from "../../../ui/toast.tsx";
import { removeAlias, setAlias } from "./alias-calls.ts";
import { aliasFault, holderOf } from "./alias-rules.ts";

/** Points an alias at a version, and says which version it leaves. */
export function AliasDialog({
  version,
  onClose,
  onChange,
}: {
  readonly version: Version;
  readonly onClose: () => void;
  readonly onChange: () => void;
}) {
  const [alias, setText] = useState("");
  const [reason, setReason] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const collectionId = version.collection_id;
  // Most collections have fewer; an alias of an older version moves as well, without being named before.
  const read = useQuery<{ versions: Version[]; has_more: boolean }>(
    `/api/artifact-collections/${collectionId}/versions?limit=1000`,
  );
  const holder = holderOf(alias, read.data?.versions ?? []);
  const fault = aliasFault(alias);
  const isHere = holder?.id === version.id;
  const hint = isHere
    ? `${version.version} has this alias.`
    : holder === undefined
      ? "Up to 64 of the characters a-z, 0-9, _, - and the dot. An alias of another version moves here."
      : `It points at ${holder.version} and moves to ${version.version}.`;
  const submit = async (): Promise<void> => {
    if (fault !== undefined || isHere || isBusy) return;
    setBusy(true);
    try {
      await setAlias(collectionId, alias, version.id, reason);
      onChange();
      onClose();
      const undo = (): Promise<void> =>
        holder === undefined ? removeAlias(collectionId, alias) : setAlias(collectionId, alias, holder.id);
      const isKnown = holder !== undefined || read.data?.has_more === false;
      toast(`${alias} points at ${version.version} now.`, isKnown ? { undo: () => void attempt(undo, onChange) } : {});
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={`Add an alias to ${version.name}:${version.version}`}
      onClose={onClose}
      onSubmit={() => void submit()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={fault !== undefined || isHere}>
            {holder === undefined || isHere || fault !== undefined ? "Add alias" : "Move alias"}
          </Button>
        </>
      }
    >
      <TextField
        label="Alias"
        mono
        autofocus
        spellcheck={false}
        value={alias}
        onInput={setText}
        {...(alias === "" || fault === undefined ? { hint } : { error: fault })}
      />
      <TextField label="Reason (optional)" value={reason} onInput={setReason} hint="Kept with the change." />
      <ErrorNote error={error} />
    </Dialog>
  );
}
