import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { toast } from "../ui/toast.tsx";

/**
 * Returns a component whose part of the bundle is loaded when it is first shown. It shows `meanwhile` until then. If that fails, `onMissing` is called;
 * without it a message says so.
 */
export function lazy<P extends object>(
  load: () => Promise<FunctionComponent<P>>,
  {
    meanwhile = null,
    onMissing = tellMissing,
  }: { readonly meanwhile?: ComponentChildren; readonly onMissing?: () => void } = {},
): FunctionComponent<P> {
  let Part: FunctionComponent<P> | undefined;
  return function Lazy(props: P) {
    const [, redraw] = useState(false);
    useEffect(() => {
      if (Part !== undefined) return;
      load().then((loaded) => {
        Part = loaded;
        redraw(true);
      }, onMissing);
    }, []);
    return Part === undefined ? <>{meanwhile}</> : <Part {...props} />;
  };
}

function tellMissing(): void {
  toast("This part of the page could not be loaded. Reload the page and try again.", { kind: "bad" });
}
