import { lazy } from "../app/lazy.tsx";
import { Skeleton } from "../ui/spinner.tsx";

const load = () => import("./pictures-chunk.ts");
const options = { meanwhile: <Skeleton height="220px" /> };

/** Draws the classifier of one object; loaded with its first use, as the others. */
export const ClassifierOf = lazy(async () => (await load()).ClassifierOf, options);

/** Draws the classifiers of several runs. */
export const ClassifierPictureOfRuns = lazy(async () => (await load()).ClassifierPictureOfRuns, options);

/** Draws the histograms of a run and key over its steps. */
export const HistogramsOverSteps = lazy(async () => (await load()).HistogramsOverSteps, options);

/** Draws a chart that people add. */
export const PanelView = lazy(async () => (await load()).PanelView, options);
