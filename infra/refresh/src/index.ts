export { createRefresher, type Refresher, type RefresherOptions } from "./refresher.ts";
