/* See rule.h. */
#include "cards/rule.h"

#include "json/json.h"

json_t *facet_card_rule_record(const struct facet_card *card)
{
    const struct facet_rule_row *row = &facet_rule_rows[card->item->row];
    const char *const *in = row->in_driver;

    return json_pack("{s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:s, s:s}",
                     "kind",
                     "rule",
                     "id",
                     row->id,
                     "title",
                     row->title,
                     "severity",
                     row->severity,
                     "severity_in",
                     "radv",
                     in[0],
                     "gpurt",
                     in[1],
                     "hiprt",
                     in[2],
                     "text",
                     row->text,
                     "file",
                     row->file);
}
