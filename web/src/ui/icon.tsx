import "./icon.css";

/** An icon next to a text that says the same: it is hidden from assistive technology. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="tm-icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={icons[name]} />
    </svg>
  );
}

/** Outlines of the icons, on a grid of 16 by 16, drawn as strokes. */
const icons = {
  "arrow-down": "M8 3v10M4 9l4 4 4-4",
  "arrow-up": "M8 13V3M4 7l4-4 4 4",
  chart: "M2.5 2.5v11h11M5 10l2.5-3.5 2 2L13 4",
  check: "M3 8.5l3.5 3.5L13 4.5",
  "chevron-down": "M4 6l4 4 4-4",
  "chevron-left": "M10 4L6 8l4 4",
  "chevron-right": "M6 4l4 4-4 4",
  "chevron-up": "M4 10l4-4 4 4",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.5V8l2.5 1.5",
  close: "M4 4l8 8M12 4l-8 8",
  collapse: "M9.5 2.5v4h4M6.5 13.5v-4h-4M13.5 2.5l-4 4M2.5 13.5l4-4",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  command:
    "M5.5 5.5h5v5h-5zM5.5 5.5h-1.5a1.5 1.5 0 1 1 1.5-1.5zM10.5 5.5v-1.5a1.5 1.5 0 1 1 1.5 1.5zM10.5 10.5h1.5a1.5 1.5 0 1 1-1.5 1.5zM5.5 10.5v1.5a1.5 1.5 0 1 1-1.5-1.5z",
  compare: "M2.5 3h4.5v10h-4.5zM9 3h4.5v10h-4.5z",
  copy: "M6 5.5h7.5v8H6zM3.5 10.5h-1v-8H10v1",
  download: "M8 2.5v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11",
  edit: "M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2zM9.3 4.5l2.2 2.2",
  expand: "M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5l-4 4M2.5 13.5l4-4",
  external: "M6.5 3.5h-4v10h10v-4M9 2.5h4.5V7M13.5 2.5l-6 6",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
  "eye-off":
    "M2.5 2.5l11 11M6.2 3.8A6 6 0 0 1 8 3.5c4 0 6.5 4.5 6.5 4.5a12 12 0 0 1-2 2.5M4 5.3A12 12 0 0 0 1.5 8S4 12.5 8 12.5a6 6 0 0 0 2.6-.6",
  file: "M4 2h5.5L12.5 5v9H4zM9.5 2v3h3",
  filter: "M2.5 3.5h11L9.5 8.5V13l-3-1.5v-3z",
  flag: "M4 14V2.5M4 3h8l-1.8 2.8L12 8.5H4",
  folder: "M2 4h4.5L8 5.5h6v7.5H2z",
  fork: "M4.5 6V10M4.5 6a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM4.5 13.4a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 6a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 6c0 2.5-7 1.5-7 4",
  gauge: "M2.5 12a6 6 0 1 1 11 0M8 10.5L11 6",
  grid: "M2.5 2.5h4.5v4.5h-4.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5h-4.5zM9 9h4.5v4.5H9z",
  group: "M2.5 3h11M2.5 8h5M2.5 13h5M11 6.5v6.5M9 9l2-2.5L13 9",
  help: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM6.2 6.3A1.9 1.9 0 1 1 8 8.5v.8M8 11.4v.1",
  image: "M2.5 3h11v10h-11zM2.5 11l3.5-3.5 3 3 1.5-1.5 3 3M10.5 5.8v.1",
  info: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.2v4M8 4.8v.1",
  key: "M9.8 2.5a3.7 3.7 0 1 0 .1 7.4 3.7 3.7 0 0 0-.1-7.4zM7.2 8.8L2.5 13.5M4.3 11.7l1.6 1.6M10.8 5.2v.1",
  link: "M6.5 9.5l3-3M7 4.8l1.3-1.3a3 3 0 0 1 4.2 4.2L11.2 9M9 11.2l-1.3 1.3a3 3 0 0 1-4.2-4.2L4.8 7",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4v.1M2.5 8v.1M2.5 12v.1",
  lock: "M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  minus: "M3 8h10",
  moon: "M13 9.5A5.7 5.7 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
  more: "M3.5 8v.1M8 8v.1M12.5 8v.1",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  pin: "M5.5 2.5h5M6.5 2.5v4L4 9.5h8L9.5 6.5v-4M8 9.5v4.5",
  play: "M4.5 3l8 5-8 5z",
  plus: "M8 3v10M3 8h10",
  refresh: "M13 8a5 5 0 1 1-1.5-3.6M13 2.5V5h-2.5",
  report: "M3.5 2h9v12h-9zM6 5.5h4M6 8h4M6 10.5h2.5",
  reset: "M3 8a5 5 0 1 0 1.5-3.6M3 2.5V5h2.5",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2",
  settings: "M2.5 4.5h6M11.5 4.5h2M10 3v3M2.5 11.5h2M7.5 11.5h6M6 10v3",
  share: "M8 9.5v-7M5 5l3-3 3 3M4.5 7.5h-1.5v6h10v-6h-1.5",
  "sign-out": "M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6",
  stop: "M4 4h8v8H4z",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  table: "M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.7h11M6.5 3v10",
  tag: "M2.5 2.5h5.5l5.5 5.5-5.5 5.5-5.5-5.5zM5.5 5.5v.1",
  terminal: "M2 3h12v10H2zM4.5 6l2 2-2 2M8 10h3",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M7 7v4M9 7v4",
  move: "M2.5 4.5h4l1.5 2h5.5v6h-11zM6 9.5h5M9 7.5l2 2-2 2",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M3 6.5L6 3.5M3 6.5l3 3",
  upload: "M8 10.5v-8M4.5 6L8 2.5 11.5 6M2.5 13.5h11",
  user: "M8 2.5a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM2.8 13.5a5.3 5.3 0 0 1 10.4 0",
  users:
    "M6 3a2.4 2.4 0 1 0 0 4.8A2.4 2.4 0 0 0 6 3zM1.5 13a4.6 4.6 0 0 1 9 0M10.5 3.2a2.4 2.4 0 0 1 0 4.4M12.3 9.6a4.6 4.6 0 0 1 2.2 3.4",
  warning: "M8 2.5l6 11H2zM8 6.5v3.5M8 11.8v.1",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof icons;
