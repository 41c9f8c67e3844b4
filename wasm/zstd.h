/* Decompression of zstd (RFC 8878) for the page, which has no libzstd: chunks of captures. Any
 * bytes are taken; nothing outside of the two buffers is read or written. */
#ifndef FACET_WASM_ZSTD_H
#define FACET_WASM_ZSTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One frame without a dictionary becomes exactly `full` bytes; false for anything else, a wrong
 * checksum too. */
bool page_zstd_inflate(const uint8_t *from, size_t size, uint8_t *to, size_t full);

#endif
