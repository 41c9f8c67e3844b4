/* What a file is that is no image: by its first bytes, and by its name where these say nothing. */
#ifndef FACET_GFX12_DRIVERS_SNIFF_H
#define FACET_GFX12_DRIVERS_SNIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct facet_gfx12_looks {
    const char *what; /* "a PNG picture"; NULL: nothing that has a name, an image for all we know */
    bool scene;       /* of a kind that the builder reads */
};

struct facet_gfx12_looks
facet_gfx12_looks_like(const char *path, const uint8_t *bytes, uint64_t size);

#endif
