import { useEffect, useState } from "preact/hooks";
import { connection } from "../api/changes.ts";
import { Spinner } from "../ui/spinner.tsx";

/** Milliseconds of a loss that are not reported. */
const HIDDEN_MS = 1500;

/** Says that the server does not answer, while it does not. The page continues by itself afterwards. */
export function ConnectionBanner() {
  const isDown = connection.value !== "live";
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isDown) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => setShown(true), HIDDEN_MS);
    return () => clearTimeout(timer);
  }, [isDown]);
  return (
    <div role="status">
      {isShown && (
        <p class="tm-banner">
          <Spinner /> The server does not answer. What you see may be old; it goes on by itself.
        </p>
      )}
    </div>
  );
}
