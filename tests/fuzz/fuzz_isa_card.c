/* Any text as the name of a reference card: no crash, and what is found has a text and JSON. */
#include "cards/card.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facet_card cards[FACET_CARD_MAX];
    char name[128];

    size = size < sizeof name - 1 ? size : sizeof name - 1;
    memcpy(name, data, size);
    name[size] = '\0';
    size_t count = facet_card_find(name, FACET_ITEM_ANY, cards);
    for (size_t i = 0; i < count; i++) {
        struct facet_strbuf text;
        json_t *json = facet_card_record(&cards[i], NULL);
        facet_strbuf_init(&text);
        facet_card_text(&cards[i], NULL, &text);
        if (json == NULL || text.failed || text.length == 0) {
            abort();
        }
        json_decref(json);
        facet_strbuf_free(&text);
    }
    return 0;
}
