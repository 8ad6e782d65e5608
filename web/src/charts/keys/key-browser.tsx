import { useMemo, useState } from "preact/hooks";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { ChartContext } from "../section/chart-context.ts";
import { keyTree, type KeyNode } from "./sections.ts";

/** Entries of one branch that are listed at a time. */
const LISTED_MAX = 200;

/** A button that opens the tree of all keys: branches narrow the search, keys are pinned. */
export function KeyBrowser({
  context,
  keys,
}: {
  readonly context: Pick<ChartContext, "state" | "change">;
  readonly keys: readonly string[];
}) {
  const [isOpen, setOpen] = useState(false);
  const tree = useMemo(() => (isOpen ? keyTree(keys) : []), [isOpen, keys]);
  return (
    <>
      <Button size="s" icon="list" onClick={() => setOpen(true)}>
        Browse
      </Button>
      {isOpen && (
        <Dialog title="Browse metrics" onClose={() => setOpen(false)}>
          <Branch context={context} nodes={tree} path="" onDone={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

type BranchProps = {
  readonly context: Pick<ChartContext, "state" | "change">;
  readonly nodes: readonly KeyNode[];
  readonly path: string;
  readonly onDone: () => void;
};

function Branch({ context, nodes, path, onDone }: BranchProps) {
  const [shown, setShown] = useState(LISTED_MAX);
  return (
    <ul class="tm-key-tree">
      {nodes.slice(0, shown).map((node) => (
        <Node key={node.name} context={context} node={node} path={path} onDone={onDone} />
      ))}
      {nodes.length > shown && (
        <li>
          <Button kind="quiet" size="s" onClick={() => setShown(shown + LISTED_MAX)}>
            Show more
          </Button>
        </li>
      )}
    </ul>
  );
}

function Node({ context, node, path, onDone }: Omit<BranchProps, "nodes"> & { readonly node: KeyNode }) {
  const [isOpen, setOpen] = useState(false);
  const { state, change } = context;
  const { key, name, children, count } = node;
  const isPinned = key !== undefined && state.pinned.includes(key);
  const inside = `${path}${name}/`;
  return (
    <li>
      <div class="tm-key-node">
        {children.length > 0 ? (
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
            {name} <small>{count}</small>
          </button>
        ) : (
          <span>{name}</span>
        )}
        {children.length > 0 && (
          <Button
            kind="quiet"
            size="s"
            aria-label={`Show the charts of ${inside}`}
            onClick={() => {
              change({ search: inside });
              onDone();
            }}
          >
            Show
          </Button>
        )}
        {key !== undefined && (
          <IconButton
            icon="pin"
            size="s"
            label={isPinned ? `Unpin ${key}` : `Pin ${key} to the top`}
            pressed={isPinned}
            onClick={() =>
              change({ pinned: isPinned ? state.pinned.filter((one) => one !== key) : [...state.pinned, key] })
            }
          />
        )}
      </div>
      {isOpen && <Branch context={context} nodes={children} path={inside} onDone={onDone} />}
    </li>
  );
}
