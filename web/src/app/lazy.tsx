import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Returns a component whose part of the bundle is loaded when it is first shown. `onMissing` is called if that fails. */
export function lazy<P extends object>(
  load: () => Promise<FunctionComponent<P>>,
  onMissing: () => void,
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
    return Part === undefined ? null : <Part {...props} />;
  };
}
