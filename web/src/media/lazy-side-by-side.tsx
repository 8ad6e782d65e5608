import { lazy } from "../app/lazy.tsx";
import { Skeleton } from "../ui/spinner.tsx";

/** What runs logged under the same keys; its code is loaded when it is first shown. */
export const SideBySide = lazy(async () => (await import("./side-by-side.tsx")).SideBySide, {
  meanwhile: <Skeleton lines={6} height="40px" />,
});
