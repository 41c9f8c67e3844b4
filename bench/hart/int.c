/* `int` of `facet bench hart`: the mix of a small integer benchmark. Each round sorts and walks a
 * linked list, multiplies 16-bit matrices, scans text with a state machine, and folds every result
 * into a CRC that must come out the same each time. */
#include <stddef.h>
#include <stdint.h>

enum { NODES = 100, SIDE = 14, TEXT = 512 };

struct node {
    struct node *next;
    int16_t key, order;
};

static struct node pool[NODES];
static int16_t left_side[SIDE][SIDE], right_side[SIDE][SIDE];
static int32_t product[SIDE][SIDE];
static char text[TEXT];

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static __attribute__((noinline)) uint16_t crc_byte(uint8_t byte, uint16_t crc)
{
    for (int i = 0; i < 8; i++) {
        unsigned bit = (byte ^ crc) & 1;

        byte >>= 1;
        crc >>= 1;
        if (bit != 0) {
            crc ^= 0xA001;
        }
    }
    return crc;
}

static uint16_t crc_word(uint32_t word, uint16_t crc)
{
    for (int i = 0; i < 4; i++) {
        crc = crc_byte((uint8_t)(word >> (8 * i)), crc);
    }
    return crc;
}

/* ---- list ---- */

static struct node *make_list(uint32_t seed)
{
    for (int i = 0; i < NODES; i++) {
        pool[i].key = (int16_t)next_random(&seed);
        pool[i].order = (int16_t)i;
        pool[i].next = i + 1 < NODES ? &pool[i + 1] : NULL;
    }
    return &pool[0];
}

static __attribute__((noinline)) struct node *find(struct node *list, int16_t order)
{
    while (list != NULL && list->order != order) {
        list = list->next;
    }
    return list;
}

static __attribute__((noinline)) struct node *reverse(struct node *list)
{
    struct node *done = NULL;

    while (list != NULL) {
        struct node *rest = list->next;

        list->next = done;
        done = list;
        list = rest;
    }
    return done;
}

typedef int compare_fn(const struct node *a, const struct node *b);

static int by_key(const struct node *a, const struct node *b)
{
    return a->key - b->key;
}

static int by_order(const struct node *a, const struct node *b)
{
    return a->order - b->order;
}

static __attribute__((noinline)) struct node *
merge(struct node *a, struct node *b, compare_fn *compare)
{
    struct node head, *tail = &head;

    while (a != NULL && b != NULL) {
        struct node **smaller = compare(a, b) <= 0 ? &a : &b;

        tail->next = *smaller;
        tail = tail->next;
        *smaller = tail->next;
    }
    tail->next = a != NULL ? a : b;
    return head.next;
}

static struct node *sort(struct node *list, compare_fn *compare)
{
    struct node *slow = list, *fast;

    if (list == NULL || list->next == NULL) {
        return list;
    }
    for (fast = list->next; fast != NULL && fast->next != NULL; fast = fast->next->next) {
        slow = slow->next;
    }
    fast = slow->next;
    slow->next = NULL;
    return merge(sort(list, compare), sort(fast, compare), compare);
}

static uint16_t list_round(uint16_t crc)
{
    struct node *list = make_list(crc), *n;

    for (int16_t i = 0; i < NODES; i += 3) {
        n = find(list, i);
        list = reverse(list);
        crc = crc_word(n != NULL ? (uint32_t)n->key : 0, crc);
    }
    list = sort(list, by_key);
    crc = crc_word((uint32_t)list->key, crc);
    list = sort(list, by_order);
    for (n = list; n != NULL; n = n->next) {
        crc = crc_byte((uint8_t)n->key, crc);
    }
    return crc;
}

/* ---- matrix ---- */

static __attribute__((noinline)) void multiply(void)
{
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            int32_t sum = 0;

            for (int k = 0; k < SIDE; k++) {
                sum += (int32_t)left_side[i][k] * right_side[k][j];
            }
            product[i][j] = sum;
        }
    }
}

static __attribute__((noinline)) void multiply_bits(void)
{
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            int32_t sum = 0;

            for (int k = 0; k < SIDE; k++) {
                int32_t p = (int32_t)left_side[i][k] * right_side[k][j];

                sum += ((p >> 2) & 0xF) * ((p >> 5) & 0x7F);
            }
            product[i][j] = sum;
        }
    }
}

static __attribute__((noinline)) int sum_matrix(int32_t clip)
{
    int32_t total = 0, previous = 0, result = 0;

    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            int32_t now = product[i][j];

            total += now;
            if (total > clip) {
                result += 10;
                total = 0;
            } else {
                result += now > previous;
            }
            previous = now;
        }
    }
    return result;
}

static uint16_t matrix_round(uint16_t crc)
{
    uint32_t seed = crc;

    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            left_side[i][j] = (int16_t)(next_random(&seed) & 0xFF);
            right_side[i][j] = (int16_t)(next_random(&seed) & 0x3FF);
        }
    }
    multiply();
    crc = crc_word((uint32_t)sum_matrix(100000), crc);
    multiply_bits();
    crc = crc_word((uint32_t)sum_matrix(1000), crc);
    return crc;
}

/* ---- text ---- */

enum state { START, INTEGER, FRACTION, EXPONENT, BAD, STATES };

static void make_text(uint32_t seed)
{
    static const char alphabet[] = "0123456789012345+-..eE,,,,,x";

    for (int i = 0; i < TEXT; i++) {
        text[i] = alphabet[next_random(&seed) % (sizeof alphabet - 1)];
    }
    text[TEXT - 1] = ',';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One field up to its comma. */
static __attribute__((noinline)) enum state scan(const char **at, uint32_t *moves)
{
    enum state state = START;
    const char *p = *at;

    for (; *p != ','; p++) {
        char c = *p;

        moves[state]++;
        switch (state) {
        case START:
            state = is_digit(c)            ? INTEGER
                    : c == '+' || c == '-' ? INTEGER
                    : c == '.'             ? FRACTION
                                           : BAD;
            break;
        case INTEGER:
            state = is_digit(c)            ? INTEGER
                    : c == '.'             ? FRACTION
                    : c == 'e' || c == 'E' ? EXPONENT
                                           : BAD;
            break;
        case FRACTION:
            state = is_digit(c) ? FRACTION : c == 'e' || c == 'E' ? EXPONENT : BAD;
            break;
        case EXPONENT:
            state = is_digit(c) || c == '+' || c == '-' ? EXPONENT : BAD;
            break;
        default:
            break;
        }
    }
    *at = p + 1;
    return state;
}

static uint16_t text_round(uint16_t crc)
{
    uint32_t ends[STATES] = {0}, moves[STATES] = {0};
    const char *at = text;

    make_text(crc);
    while (at < text + TEXT) {
        ends[scan(&at, moves)]++;
    }
    for (int i = 0; i < STATES; i++) {
        crc = crc_word(ends[i], crc_word(moves[i], crc));
    }
    return crc;
}

extern const volatile long rounds; /* start.S; set by who runs the program */

/* What a round comes to, on any machine. */
#define EXPECTED 0xA599

int main(void)
{
    for (long i = 0; i < rounds; i++) {
        uint16_t crc = text_round(matrix_round(list_round(0xACE1)));

        if (crc != EXPECTED) {
            return 1;
        }
    }
    return 0;
}
