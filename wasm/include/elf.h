/* The constants of ELF files that libfacet uses; wasi-libc has no elf.h. */
#ifndef FACET_WASM_ELF_H
#define FACET_WASM_ELF_H

#define ELFMAG "\177ELF"
#define SELFMAG 4
enum { EI_CLASS = 4, EI_DATA = 5, EI_VERSION = 6, EI_NIDENT = 16 };
enum { ELFCLASS32 = 1, ELFCLASS64 = 2, ELFDATA2LSB = 1, EV_CURRENT = 1 };
enum { ET_REL = 1, ET_EXEC = 2, ET_DYN = 3, EM_RISCV = 243 };
enum { EF_RISCV_RVC = 1, EF_RISCV_FLOAT_ABI_DOUBLE = 4 };
enum { PT_LOAD = 1, PF_X = 1, PF_W = 2, PF_R = 4 };
enum {
    SHT_PROGBITS = 1,
    SHT_SYMTAB = 2,
    SHT_STRTAB = 3,
    SHT_NOTE = 7,
    SHT_NOBITS = 8,
    SHT_INIT_ARRAY = 14,
    SHT_FINI_ARRAY = 15,
    SHT_PREINIT_ARRAY = 16,
};
enum { SHF_WRITE = 1, SHF_ALLOC = 2, SHF_EXECINSTR = 4, SHF_TLS = 1024 };
enum { SHN_UNDEF = 0, SHN_LORESERVE = 0xff00, SHN_ABS = 0xfff1 };
enum { STB_LOCAL = 0, STB_GLOBAL = 1, STB_WEAK = 2, STV_DEFAULT = 0 };
enum { STT_NOTYPE = 0, STT_OBJECT = 1, STT_FUNC = 2, STT_SECTION = 3, STT_FILE = 4 };

#endif
