// All that draws kinds of charts besides lines, as one file of the bundle: several would share parts, each in a file of its own.
import "../pages/shared-chunk.ts";
import "../charts/index.ts";

export { ClassifierOf, ClassifierPictureOfRuns } from "../media/classifier-pictures.tsx";
export { HistogramsOverSteps } from "../media/histograms-over-steps.tsx";
export { PanelView } from "./panel-view.tsx";
