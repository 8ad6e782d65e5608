import { options } from "preact";
import { addressOf, basePath } from "../api/base-path.ts";

/** Lets links and media of all components find the server: their `href` and `src` are paths on it. */
export function startOwnAddresses(): void {
  if (basePath === "") return;
  const next = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    const props = vnode.props as Record<string, unknown>;
    if (typeof vnode.type === "string") {
      for (const name of ["href", "src"]) {
        const value = props[name];
        if (typeof value === "string") props[name] = addressOf(value);
      }
    }
    next?.(vnode);
  };
}
