import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";
import "./notes.css";

/** Shown in place of missing things: why they are missing, and what to do next. */
export function EmptyState({
  title,
  icon,
  children,
  actions,
}: {
  readonly title: string;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  return (
    <div class="tm-empty">
      {icon !== undefined && <Icon name={icon} size={28} />}
      <h2>{title}</h2>
      {children !== undefined && <div class="tm-empty-text">{children}</div>}
      {actions !== undefined && <div class="tm-empty-actions">{actions}</div>}
    </div>
  );
}
