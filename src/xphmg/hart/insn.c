/* See insn.h. */
#include "xphmg/hart/insn.h"

#include <assert.h>
#include <string.h>

/* What a compressed row stands for. Operands that the base row has and the compressed one does not
 * are fixed registers; NONE leaves a register number as the operands gave it. */
enum { NONE = 255 };
static const struct expansion {
    uint16_t from, to;
    uint8_t rd, rs1, rs2; /* fixed register, or NONE */
    bool two_address;     /* rs1 is rd */
} expansions[] = {
    {FACET_XPHMG_C_ADDI4SPN, FACET_XPHMG_ADDI, NONE, 2, NONE, false},
    {FACET_XPHMG_C_FLD, FACET_XPHMG_FLD, NONE, NONE, NONE, false},
    {FACET_XPHMG_C_LW, FACET_XPHMG_LW, NONE, NONE, NONE, false},
    {FACET_XPHMG_C_LD, FACET_XPHMG_LD, NONE, NONE, NONE, false},
    {FACET_XPHMG_C_FSD, FACET_XPHMG_FSD, NONE, NONE, NONE, false},
    {FACET_XPHMG_C_SW, FACET_XPHMG_SW, NONE, NONE, NONE, false},
    {FACET_XPHMG_C_SD, FACET_XPHMG_SD, NONE, NONE, NONE, false},
    {FACET_XPHMG_C_NOP, FACET_XPHMG_ADDI, 0, 0, NONE, false},
    {FACET_XPHMG_C_ADDI, FACET_XPHMG_ADDI, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_ADDIW, FACET_XPHMG_ADDIW, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_LI, FACET_XPHMG_ADDI, NONE, 0, NONE, false},
    {FACET_XPHMG_C_ADDI16SP, FACET_XPHMG_ADDI, 2, 2, NONE, false},
    {FACET_XPHMG_C_LUI, FACET_XPHMG_LUI, NONE, NONE, NONE, false},
    {FACET_XPHMG_C_SRLI, FACET_XPHMG_SRLI, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_SRAI, FACET_XPHMG_SRAI, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_ANDI, FACET_XPHMG_ANDI, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_SUB, FACET_XPHMG_SUB, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_XOR, FACET_XPHMG_XOR, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_OR, FACET_XPHMG_OR, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_AND, FACET_XPHMG_AND, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_SUBW, FACET_XPHMG_SUBW, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_ADDW, FACET_XPHMG_ADDW, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_J, FACET_XPHMG_JAL, 0, NONE, NONE, false},
    {FACET_XPHMG_C_BEQZ, FACET_XPHMG_BEQ, NONE, NONE, 0, false},
    {FACET_XPHMG_C_BNEZ, FACET_XPHMG_BNE, NONE, NONE, 0, false},
    {FACET_XPHMG_C_SLLI, FACET_XPHMG_SLLI, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_FLDSP, FACET_XPHMG_FLD, NONE, 2, NONE, false},
    {FACET_XPHMG_C_LWSP, FACET_XPHMG_LW, NONE, 2, NONE, false},
    {FACET_XPHMG_C_LDSP, FACET_XPHMG_LD, NONE, 2, NONE, false},
    {FACET_XPHMG_C_JR, FACET_XPHMG_JALR, 0, NONE, NONE, false},
    {FACET_XPHMG_C_MV, FACET_XPHMG_ADD, NONE, 0, NONE, false},
    {FACET_XPHMG_C_EBREAK, FACET_XPHMG_EBREAK, NONE, NONE, NONE, false},
    {FACET_XPHMG_C_JALR, FACET_XPHMG_JALR, 1, NONE, NONE, false},
    {FACET_XPHMG_C_ADD, FACET_XPHMG_ADD, NONE, NONE, NONE, true},
    {FACET_XPHMG_C_FSDSP, FACET_XPHMG_FSD, NONE, 2, NONE, false},
    {FACET_XPHMG_C_SWSP, FACET_XPHMG_SW, NONE, 2, NONE, false},
    {FACET_XPHMG_C_SDSP, FACET_XPHMG_SD, NONE, 2, NONE, false},
};

#define ONE_MORE(name) +1
_Static_assert(sizeof expansions / sizeof expansions[0] == FACET_XPHMG_ROWS_COMPRESSED(ONE_MORE),
               "a compressed row stands for no base row");

static void place(struct facet_insn *in, const struct facet_operand *operand, int64_t value)
{
    const char *name = operand->name;

    switch ((enum facet_operand_kind)operand->kind) {
    case FACET_OPERAND_XREG_C:
    case FACET_OPERAND_FREG_C:
        value += 8;
        break;
    default:
        break;
    }
    /* rd, rdc, fd, fdc / rs1, fs1c / ...: the letters after r or f name the slot */
    if ((name[0] == 'r' || name[0] == 'f') && name[1] == 'd') {
        in->rd = (uint8_t)value;
    } else if ((name[0] == 'r' || name[0] == 'f') && name[1] == 's' && name[2] == '1') {
        in->rs1 = (uint8_t)value;
    } else if ((name[0] == 'r' || name[0] == 'f') && name[1] == 's' && name[2] == '2') {
        in->rs2 = (uint8_t)value;
    } else if ((name[0] == 'r' || name[0] == 'f') && name[1] == 's' && name[2] == '3') {
        in->rs3 = (uint8_t)value;
    } else if (strcmp(name, "rm") == 0 || strcmp(name, "order") == 0) {
        in->rm = (uint8_t)value;
    } else if (in->row >= FACET_XPHMG_CSRRWI && in->row <= FACET_XPHMG_CSRRCI &&
               strcmp(name, "uimm") == 0) {
        in->rs1 = (uint8_t)value; /* the value takes the place of the register */
    } else if (operand->kind != FACET_OPERAND_SP && !operand->hidden) {
        in->imm = value;
    }
}

static void expand(struct facet_insn *in)
{
    for (size_t i = 0; i < sizeof expansions / sizeof expansions[0]; i++) {
        const struct expansion *e = &expansions[i];

        if (e->from == in->row) {
            in->row = e->to;
            in->rd = e->rd != NONE ? e->rd : in->rd;
            in->rs1 = e->two_address ? in->rd : e->rs1 != NONE ? e->rs1 : in->rs1;
            in->rs2 = e->rs2 != NONE ? e->rs2 : in->rs2;
            return;
        }
    }
    assert(!"every compressed row has an expansion");
}

static bool is_csr(unsigned row)
{
    return row >= FACET_XPHMG_CSRRW && row <= FACET_XPHMG_CSRRCI;
}

struct facet_insn facet_insn_decode(uint32_t word)
{
    const struct facet_insn_row *row = facet_isa_decode(FACET_ISA_XPHMG, word);
    struct facet_insn in = {.row = FACET_XPHMG_OP_COUNT, .word = word};

    in.length = (uint8_t)facet_isa_length(FACET_ISA_XPHMG, (uint16_t)word);
    if (in.length == 2) {
        in.word = (uint16_t)word;
    }
    if (row == NULL) {
        return in;
    }
    in.row = row->id;
    for (unsigned i = 0; i < row->operand_count; i++) {
        place(&in, &row->operands[i], facet_operand_get(&row->operands[i], in.word));
    }
    if (in.length == 2) {
        expand(&in);
    }
    if (is_csr(in.row)) {
        const struct facet_csr_row *csr = facet_csr_at(FACET_ISA_XPHMG, (uint32_t)in.imm);

        in.csr = csr != NULL ? (uint16_t)(csr - facet_csr_rows) : FACET_INSN_NO_CSR;
    }
    if (in.row == FACET_XPHMG_LUI || in.row == FACET_XPHMG_AUIPC) {
        in.imm = (int64_t)(int32_t)((uint32_t)in.imm << 12);
    }
    return in;
}

bool facet_insn_exists(const struct facet_insn *in, const struct facet_cap_config *config)
{
    static const uint32_t needs[] = {
        [FACET_XPHMG_EXT_RV64A] = FACET_EXT_A,
        [FACET_XPHMG_EXT_RV64D] = FACET_EXT_D,
        [FACET_XPHMG_EXT_RV64F] = FACET_EXT_F,
        [FACET_XPHMG_EXT_RV64M] = FACET_EXT_M,
        [FACET_XPHMG_EXT_ZBA] = FACET_EXT_ZBA,
        [FACET_XPHMG_EXT_ZBB] = FACET_EXT_ZBB,
        [FACET_XPHMG_EXT_ZBS] = FACET_EXT_ZBS,
        [FACET_XPHMG_EXT_ZFH] = FACET_EXT_ZFH,
        [FACET_XPHMG_EXT_ZIFENCEI] = FACET_EXT_ZIFENCEI,
        [FACET_XPHMG_EXT_ZICSR] = 0,
    };
    const unsigned extension =
        in->row < FACET_XPHMG_OP_COUNT ? facet_xphmg_extension[in->row] : FACET_XPHMG_EXT_RV64I;
    uint32_t all = extension < sizeof needs / sizeof needs[0] ? needs[extension] : 0;

    all |= in->length == 2 ? FACET_EXT_C : 0;
    all |= in->row == FACET_XPHMG_FCVT_H_D || in->row == FACET_XPHMG_FCVT_D_H ? FACET_EXT_D : 0;
    return !facet_xphmg_lacks(config, all);
}

int64_t facet_insn_field_at(const struct facet_insn *in, uint64_t key)
{
    const struct facet_insn_row *row = &facet_isa_rows[FACET_ISA_XPHMG][in->row];

    for (unsigned i = 0; i < row->operand_count; i++) {
        if (row->operands[i].key == key) {
            return facet_operand_get(&row->operands[i], in->word);
        }
    }
    assert(!"the row has such a field");
    return 0;
}
