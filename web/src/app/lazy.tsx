import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Returns a component whose part of the bundle is loaded when it is first shown. It shows `meanwhile` until then; `onMissing` is called if that fails. */
export function lazy<P extends object>(
  load: () => Promise<FunctionComponent<P>>,
  onMissing: () => void,
  meanwhile: ComponentChildren = null,
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
