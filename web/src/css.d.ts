/** Style sheets have no values: the build gathers them into one file. */
declare module "*.css";
