export { blocksSchema, BLOCKS, faultOfBlocks, panelsOf, type Block, type PlacedPanel } from "./blocks.ts";
export { writeMarkdown, type WrittenReport } from "./markdown.ts";
