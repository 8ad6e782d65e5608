import type { ComponentChildren, ComponentProps } from "preact";
import { classes } from "./class-names.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Spinner } from "./spinner.tsx";
import "./button.css";

type Native = Omit<ComponentProps<"button">, "icon" | "size" | "class" | "className">;

/** The props of buttons in addition to HTML's. */
export type ButtonProps = Native & {
  /** `primary` once a view at most, `danger` for what cannot be undone, `quiet` within rows and bars. */
  readonly kind?: "primary" | "plain" | "danger" | "quiet";
  readonly size?: "s" | "m";
  readonly icon?: IconName | undefined;
  /** It works: it shows that and cannot be pressed. */
  readonly busy?: boolean;
  readonly class?: string;
  readonly children?: ComponentChildren;
};

/** A button with a verb on it. */
export function Button({
  kind = "plain",
  size = "m",
  icon,
  busy = false,
  disabled,
  class: more,
  children,
  ...attributes
}: ButtonProps) {
  return (
    <button
      type="button"
      {...attributes}
      class={classes("tm-button", `tm-button-${kind}`, size === "s" && "tm-button-s", more)}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
    >
      {busy ? <Spinner /> : icon !== undefined && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

/** A button that shows an icon alone; `label` is its name and its tooltip. `pressed` makes it a switch. */
export function IconButton({
  icon,
  label,
  pressed,
  kind = "quiet",
  size = "m",
  class: more,
  ...attributes
}: Omit<ButtonProps, "children" | "icon" | "busy"> & {
  readonly icon: IconName;
  readonly label: string;
  readonly pressed?: boolean | undefined;
}) {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      aria-pressed={pressed}
      {...attributes}
      class={classes("tm-button tm-icon-button", `tm-button-${kind}`, size === "s" && "tm-button-s", more)}
    >
      <Icon name={icon} />
    </button>
  );
}
