import { useState } from "preact/hooks";
import { may } from "../../../api/session.ts";
import type { Version } from "../../../artifacts/artifact-types.ts";
import { Badge } from "../../../ui/status-badge.tsx";
import { IconButton } from "../../../ui/button.tsx";
import { attempt } from "../../../ui/fault.ts";
import { toast } from "../../../ui/toast.tsx";
import { AliasDialog } from "./alias-dialog.tsx";
import { removeAlias, setAlias } from "./alias-calls.ts";
import { isRemovable } from "./alias-rules.ts";

/** The aliases of a version; those who may change them add, move and remove them here. */
export function AliasList({ version, onChange }: { readonly version: Version; readonly onChange: () => void }) {
  const [isAdding, setAdding] = useState(false);
  const canChange = may("aliases") && version.state === "active";
  const { collection_id: collectionId, id } = version;
  const remove = (alias: string): void =>
    void attempt(async () => {
      await removeAlias(collectionId, alias);
      onChange();
      toast(`Removed the alias ${alias}.`, {
        undo: () => void attempt(() => setAlias(collectionId, alias, id), onChange),
      });
    });
  return (
    <span class="tm-aliases">
      {version.aliases.map((alias) => (
        <span key={alias} class="tm-alias">
          <Badge kind="info">{alias}</Badge>
          {canChange && isRemovable(alias) && (
            <IconButton
              icon="close"
              size="s"
              label={`Remove the alias ${alias} of ${version.version}`}
              onClick={() => remove(alias)}
            />
          )}
        </span>
      ))}
      {canChange && (
        <IconButton icon="plus" size="s" label={`Add an alias to ${version.version}`} onClick={() => setAdding(true)} />
      )}
      {isAdding && <AliasDialog version={version} onClose={() => setAdding(false)} onChange={onChange} />}
    </span>
  );
}
