import type { BlockKeyParts } from "@tidemark/metric-codec";

/** All that is known of the points of a key without reading them. */
export type KeyFacts = {
  readonly keyId: number;
  readonly count: number;
  readonly firstStep: number;
  readonly lastStep: number;
};

/** The points of one key in a block, which come without times where only a sample is wanted. */
export type Chunk = BlockKeyParts;

/** A whole request of any keys. */
export type LandedRequest = { readonly receivedUs: number; readonly block: Uint8Array };

/**
 * A part of what is stored of one key in several runs. `place` counts the runs asked for from 1; they come in this order, each beginning with its
 * `run`, and the points of each in the order of their arrival.
 */
export type SeriesSegment = { readonly place: number } & (
  | { readonly kind: "run"; readonly version: number; readonly key: KeyFacts | null }
  | { readonly kind: "head"; readonly head: Uint8Array }
  | { readonly kind: "chunk"; readonly chunk: Chunk }
  | { readonly kind: "landing"; readonly landed: LandedRequest }
);

/** The points of several keys in a block. */
export type Stripe = {
  /** The block's steps and times, as of a chunk. */
  readonly steps: Uint8Array;
  readonly times: Uint8Array;
  /** For each key its id and the bytes of its section: four bytes each, the highest first. */
  readonly keys: Uint8Array;
  /** The sections, one after another. */
  readonly sections: Uint8Array;
};

/** A part of what is stored of several keys of a run: its version first, then the keys, then their points, for each key in the order of arrival. */
export type PointSegment =
  | { readonly kind: "run"; readonly version: number }
  | { readonly kind: "key"; readonly key: string; readonly keyId: number }
  | { readonly kind: "chunk"; readonly keyId: number; readonly chunk: Chunk }
  | { readonly kind: "block"; readonly stripe: Stripe }
  | { readonly kind: "landing"; readonly landed: LandedRequest };
