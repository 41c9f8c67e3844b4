/* What a case folder holds, between its reader and its runner. Private to src/tile. */
#ifndef FACET_DOCUMENTS_TILE_CASE_DATA_H
#define FACET_DOCUMENTS_TILE_CASE_DATA_H

#include "base/bits.h"
#include "base/file.h"
#include "documents/tile_case.h"

struct facet_doc_tile_block {
    uint32_t address;
    struct facet_bytes bytes;
};

struct facet_doc_tile_expected_fault {
    bool listed, has_pc, has_address, has_status;
    uint32_t cause, pc, address, status;
};

struct facet_doc_tile_case {
    char name[256];
    struct facet_tile_config config;
    struct facet_tile_packet packet;
    struct facet_bytes kernel, args;
    struct facet_doc_tile_block *inputs, *outputs;
    size_t input_count, output_count;
    bool expects_fault, has_rounds, has_instret, has_faults;
    uint64_t rounds, instret[FACET_TILE_CORES];
    struct facet_doc_tile_expected_fault faults[FACET_TILE_CORES];
};

#endif
