import { icons, type IconName } from "./icons.ts";
import "./icon.css";

/** An icon next to a text that says the same: it is hidden from assistive technology. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="tm-icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={icons[name]} />
    </svg>
  );
}
