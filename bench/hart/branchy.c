/* `branchy` of `facet bench hart`: what an interpreter does. A small machine with sixteen registers
 * and bytes of memory runs three programs in bytecode (lengths of Collatz sequences, a sieve, a
 * sort by insertion): an indirect jump for each instruction, and branches that depend on data. Its
 * registers must come out the same each time. */
#include <stdint.h>

enum operation {
    SET,       /* a = b, c as 16 bits */
    MOVE,      /* a = b */
    ADD,       /* a = b + c */
    SUB,       /* a = b - c */
    TRIPLE,    /* a = 3 b + 1 */
    HALF,      /* a = b / 2 */
    ADD_SMALL, /* a = b + c as a signed number */
    LOAD,      /* a = memory[b] */
    STORE,     /* memory[b] = a */
    IF_ODD,    /* to c when a is odd */
    IF_LESS,   /* to c when a < b */
    IF_EQUAL,  /* to c when a = b */
    GO,        /* to c */
    END,
};

struct instruction {
    uint8_t operation, a, b, c;
};

enum { REGISTERS = 16, MEMORY = 1 << 10, PRIMES = 1000, SORTED = 64 };

static uint8_t memory[MEMORY];
static uint64_t r[REGISTERS];

/* Lengths of the sequences from 1 to 300, the sum in r2. */
static const struct instruction collatz[] = {
    {SET, 0, 300 >> 8, 300 & 0xFF},
    {SET, 1, 0, 1},
    {SET, 2, 0, 0},
    {MOVE, 3, 0, 0}, /* 3: the next number */
    {IF_EQUAL, 3, 1, 11},
    {IF_ODD, 3, 0, 8},
    {HALF, 3, 3, 0},
    {GO, 0, 0, 9},
    {TRIPLE, 3, 3, 0}, /* 8 */
    {ADD_SMALL, 2, 2, 1},
    {GO, 0, 0, 4},
    {ADD_SMALL, 0, 0, 0xFF}, /* 11: done with this one */
    {IF_LESS, 0, 1, 14},
    {GO, 0, 0, 3},
    {END, 0, 0, 0},
};

/* Numbers below PRIMES that nothing crossed out, counted in r4. */
static const struct instruction sieve[] = {
    {SET, 0, PRIMES >> 8, PRIMES & 0xFF},
    {SET, 1, 0, 2},
    {SET, 4, 0, 0},
    {SET, 6, 0, 1},
    {SET, 7, 0, 0},
    {MOVE, 5, 7, 0},
    {STORE, 7, 5, 0}, /* 6: all bytes to zero */
    {ADD_SMALL, 5, 5, 1},
    {IF_LESS, 5, 0, 6},
    {LOAD, 5, 1, 0}, /* 9: the next number */
    {IF_EQUAL, 5, 6, 16},
    {ADD_SMALL, 4, 4, 1},
    {MOVE, 5, 1, 0},
    {STORE, 6, 5, 0}, /* 13: its multiples are none */
    {ADD, 5, 5, 1},
    {IF_LESS, 5, 0, 13},
    {ADD_SMALL, 1, 1, 1}, /* 16 */
    {IF_LESS, 1, 0, 9},
    {END, 0, 0, 0},
};

/* SORTED bytes in rising order. */
static const struct instruction sort[] = {
    {SET, 0, 0, SORTED},
    {SET, 1, 0, 1},
    {SET, 9, 0, 0},
    {LOAD, 2, 1, 0}, /* 3: the next byte goes down to its place */
    {MOVE, 3, 1, 0},
    {IF_EQUAL, 3, 9, 12}, /* 5 */
    {ADD_SMALL, 4, 3, 0xFF},
    {LOAD, 5, 4, 0},
    {IF_LESS, 5, 2, 12},
    {STORE, 5, 3, 0},
    {MOVE, 3, 4, 0},
    {GO, 0, 0, 5},
    {STORE, 2, 3, 0}, /* 12 */
    {ADD_SMALL, 1, 1, 1},
    {IF_LESS, 1, 0, 3},
    {END, 0, 0, 0},
};

static __attribute__((noinline)) void run(const struct instruction *code)
{
    const struct instruction *at = code;

    for (;;) {
        const struct instruction i = *at++;

        switch ((enum operation)i.operation) {
        case SET:
            r[i.a] = (uint64_t)i.b << 8 | i.c;
            break;
        case MOVE:
            r[i.a] = r[i.b];
            break;
        case ADD:
            r[i.a] = r[i.b] + r[i.c];
            break;
        case SUB:
            r[i.a] = r[i.b] - r[i.c];
            break;
        case TRIPLE:
            r[i.a] = 3 * r[i.b] + 1;
            break;
        case HALF:
            r[i.a] = r[i.b] / 2;
            break;
        case ADD_SMALL:
            r[i.a] = r[i.b] + (uint64_t)(int8_t)i.c;
            break;
        case LOAD:
            r[i.a] = memory[r[i.b] % MEMORY];
            break;
        case STORE:
            memory[r[i.b] % MEMORY] = (uint8_t)r[i.a];
            break;
        case IF_ODD:
            at = (r[i.a] & 1) != 0 ? code + i.c : at;
            break;
        case IF_LESS:
            at = r[i.a] < r[i.b] ? code + i.c : at;
            break;
        case IF_EQUAL:
            at = r[i.a] == r[i.b] ? code + i.c : at;
            break;
        case GO:
            at = code + i.c;
            break;
        case END:
            return;
        }
    }
}

extern const volatile long rounds; /* start.S; set by who runs the program */

/* What a round comes to, on any machine. */
#define EXPECTED UINT64_C(0xBF619BB3B032996C)

int main(void)
{
    for (long round = 0; round < rounds; round++) {
        uint64_t sum, state = 1;

        run(collatz);
        sum = r[2];
        run(sieve);
        sum = sum * 1000 + r[4];
        for (int i = 0; i < SORTED; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            memory[i] = (uint8_t)(state >> 56);
        }
        run(sort);
        for (int i = 0; i < SORTED; i++) {
            sum = sum * 31 + memory[i];
        }
        if (sum != EXPECTED) {
            return 1;
        }
    }
    return 0;
}
