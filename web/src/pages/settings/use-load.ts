import { useCallback, useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";

/** The answer of a GET, and how to ask again. */
export type Loaded<T> = {
  readonly data: T | undefined;
  readonly fault: unknown;
  readonly load: () => void;
};

/** Reads a path when it is shown, and again by `load`; the last answer stays meanwhile. */
export function useLoad<T>(path: string): Loaded<T> {
  const [data, setData] = useState<T>();
  const [fault, setFault] = useState<unknown>();
  const load = useCallback(() => {
    call<T>(path).then((answer) => {
      setFault(undefined);
      setData(answer);
    }, setFault);
  }, [path]);
  useEffect(load, [load]);
  return { data, fault, load };
}
