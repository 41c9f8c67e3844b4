/* See sniff.h. */
#include "gfx12/drivers/sniff.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *what;
    const char *begin;
    uint8_t length;
    bool scene;
} kinds[] = {
    {"an ELF file", "\177ELF", 4, false},
    {"a PNG picture", "\211PNG\r\n\032\n", 8, false},
    {"a JPEG picture", "\377\330\377", 3, false},
    {"a GIF picture", "GIF8", 4, false},
    {"an EXR picture", "\166\057\061\001", 4, false},
    {"a PFM picture", "PF\n", 3, false},
    {"a KTX2 texture", "\253KTX 20\273", 8, false},
    {"a DDS texture", "DDS ", 4, false},
    {"a ZIP archive", "PK\003\004", 4, false},
    {"a gzip archive", "\037\213\010", 3, false},
    {"an xz archive", "\3757zXZ", 6, false},
    {"zstd-compressed data", "\050\265\057\375", 4, false},
    {"a PDF document", "%PDF-", 5, false},
    {"a glTF scene (GLB)", "glTF", 4, true},
    {"a PLY scene", "ply\n", 4, true},
    {"a PLY scene", "ply\r\n", 5, true},
    {"a Git LFS pointer: the file itself was not fetched", "version https://git-lfs", 23, false},
    {"SPIR-V code", "\003\002\043\007", 4, false},
    {"a Windows program", "MZ\220", 3, false},
};

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);

    return length >= tail && strcasecmp(path + length - tail, end) == 0;
}

/* Nodes are never text: they have zeros and high bytes within a few words. Text has letters, or
 * begins a list. */
static bool is_text(const uint8_t *bytes, uint64_t size)
{
    uint64_t look = size < 1024 ? size : 1024, letters = 0;

    for (uint64_t i = 0; i < look; i++) {
        if ((bytes[i] < 0x20 && !isspace(bytes[i])) || bytes[i] == 0x7f || bytes[i] >= 0xf8) {
            return false; /* what no text has, in UTF-8 either */
        }
        letters += isalpha(bytes[i]) != 0 || bytes[i] == '{' || bytes[i] == '[';
    }
    return letters != 0 && size >= 4;
}

static bool has_word(const uint8_t *bytes, uint64_t size, const char *word)
{
    size_t length = strlen(word);

    for (uint64_t i = 0; i + length <= size && i < 4096; i++) {
        if (memcmp(bytes + i, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Lines of vertices at the beginning, comments and names skipped. */
static bool is_obj(const uint8_t *bytes, uint64_t size)
{
    uint64_t at = 0;

    for (unsigned line = 0; line < 200 && at < size; line++) {
        if (size - at > 2 && bytes[at] == 'v' && bytes[at + 1] == ' ') {
            return true;
        }
        while (at < size && bytes[at] != '\n') {
            at++;
        }
        at++;
    }
    return false;
}

struct facet_gfx12_looks
facet_gfx12_looks_like(const char *path, const uint8_t *bytes, uint64_t size)
{
    uint64_t first = 0;

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (size >= kinds[i].length && memcmp(bytes, kinds[i].begin, kinds[i].length) == 0) {
            return (struct facet_gfx12_looks){kinds[i].what, kinds[i].scene};
        }
    }
    if (ends_with(path, ".stl") && size >= 84) {
        return (struct facet_gfx12_looks){"an STL scene", true};
    }
    if (!is_text(bytes, size)) {
        return (struct facet_gfx12_looks){NULL, false};
    }
    while (first < size && isspace(bytes[first])) {
        first++;
    }
    if (first < size && (bytes[first] == '{' || bytes[first] == '[')) {
        if (ends_with(path, ".gltf") || has_word(bytes, size, "\"asset\"")) {
            return (struct facet_gfx12_looks){"a glTF scene", true};
        }
        if (has_word(bytes, size, "facet-bvh") || has_word(bytes, size, "\"nodes\"")) {
            return (struct facet_gfx12_looks){
                "the JSON of bvh dump (facet bvh encode makes an image of it)", false};
        }
        return (struct facet_gfx12_looks){"JSON", false};
    }
    if (ends_with(path, ".obj") || is_obj(bytes, size)) {
        return (struct facet_gfx12_looks){"an OBJ scene", true};
    }
    if (size > 6 && memcmp(bytes, "solid ", 6) == 0) {
        return (struct facet_gfx12_looks){"an STL scene", true};
    }
    return (struct facet_gfx12_looks){"text", false};
}
