/*
 * A log block holds lines of one stream in order.
 *
 *   at  size       what
 *    0  u8         version, 1
 *    1  u8         which sections are compressed with zstd: 1 the numbers, 2 the texts, 3 both, 0 none
 *    2  u32        CRC-32 of the bytes 0 to 1 and of everything from byte 6 on, little-endian
 *    6  varint x 3 bytes of the numbers before compression, bytes of the texts before compression, bytes of the numbers as they are here
 *       the rest   the numbers, then the texts: the messages in UTF-8, one after another
 *
 * The numbers, all varints (see varint.ts):
 *
 *   number of lines
 *   line numbers: the first, then differences
 *   arrivals (see log-requests.ts)
 *   client times (see log-times.ts)
 *   bytes of each message
 *
 * Numbers and texts are compressed apart, because they share neither words nor frequencies of bytes: together they take 8 % more. Another
 * arrangement takes another version, and a reader refuses what it does not know. Version 2 is the plain arrangement of read-plain-block.ts,
 * which SQL alone can write.
 */

/** The first byte of what {@link encodeLogBlock} writes. */
export const LOG_BLOCK_VERSION = 1;
/** The first byte of a block that was made in SQL. */
export const PLAIN_BLOCK_VERSION = 2;

export const PACKED_NUMBERS = 1;
export const PACKED_TEXTS = 2;

/** Bytes before the sizes. */
export const HEADER_BYTES = 6;
export const CHECKSUM_AT = 2;

/** A line takes at least so many bytes of the numbers: its number, its place, its time and its length. */
export const LINE_BYTES_MIN = 4;

/** No section of a block is larger. The writers stay far below; the bound is for what is damaged. */
export const SECTION_BYTES_MAX = 64 * 1024 * 1024;
