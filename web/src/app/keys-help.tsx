import { Dialog } from "../ui/dialog.tsx";
import { keyGroups } from "./keys.ts";

const SIGNS: Readonly<Record<string, string>> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };

/** The shortcuts of the visible parts. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const all = keyGroups.value.map(({ id, label, keys }) => ({ id, label, keys: Object.entries(keys()) }));
  // A part may have actions for the palette and no keys.
  const shown = all.filter(({ keys }) => keys.length > 0);
  return (
    <Dialog title="Keyboard shortcuts" wide onClose={onClose}>
      <div class="tm-keys-list">
        {shown.map(({ id, label, keys }) => (
          <section key={id}>
            <h3>{label}</h3>
            <dl>
              {keys.map(([key, action]) => (
                <div key={key}>
                  <dt>{typeof action === "function" ? label : action.label}</dt>
                  <dd>
                    {partsOf(key).map((part) => (
                      <kbd key={part}>{SIGNS[part] ?? part}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

const partsOf = (key: string): readonly string[] => (key === "+" ? ["+"] : key.split("+"));
