/** A file of the bundle. */
export type BundleFile = {
  /** `<what>.<hash>.<extension>`; the hash changes with the contents. */
  readonly name: string;
  /** Its media type. */
  readonly type: string;
  readonly bytes: number;
  readonly gzipBytes: number;
};

/** The parts of the page of embedded views, which is one document. */
export type EmbedParts = { readonly script: string; readonly style: string };

/** The content of a folder with a bundle, from its `index.json`. Each file is also there compressed, as `<name>.gz`. */
export type BundleIndex = {
  readonly files: readonly BundleFile[];
  /** The module that starts the dashboard. */
  readonly entry: string;
  /** The script that chooses the theme before anything is drawn. */
  readonly theme: string;
  /** The style sheet of what every page has. */
  readonly style: string;
  /** The style sheet of all pages but those that sign in, which load it when they are left. */
  readonly pageStyle: string;
  readonly signInPages: readonly string[];
  /** The style sheet of what only `latePages` have. */
  readonly lateStyle: string;
  readonly latePages: readonly string[];
  readonly icon: string;
  readonly embed: EmbedParts;
  /** By page, the modules that its first view loads in addition to the entry. */
  readonly parts: Readonly<Record<string, readonly string[]>>;
};

/** Where the index lies in the folder. */
export const INDEX_FILE = "index.json";
