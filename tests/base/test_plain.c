/* plain.h: what a terminal would obey is spelled out, everything else stays. */
#include "base/plain.h"
#include "harness.h"

#include <stdio.h>

static void check_shown(const char *text, const char *expect)
{
    char shown[200], again[200];

    facet_plain_text(shown, sizeof shown, text, strlen(text));
    CHECK_STR(shown, expect);
    facet_plain_text(again, sizeof again, shown, strlen(shown));
    CHECK_STR(again, expect);
}

TEST(commands_for_a_terminal_are_spelled_out, "")
{
    check_shown("a\033[31mb\a\x7f", "a\\u001b[31mb\\u0007\\u007f");
    check_shown("one\ntwo\tthree\r", "one\\u000atwo\\u0009three\\u000d");
    check_shown("\xC2\x9B\x32J", "\\u009b2J"); /* C1 as UTF-8 */
    check_shown("\x9B\x32J", "\\x9b2J");       /* and as a byte */
    check_shown("\xE2\x80\xAE\xE2\x80\xAA\xE2\x81\xA6\xE2\x81\xA9", "\\u202e\\u202a\\u2066\\u2069");
}

TEST(text_stays, "")
{
    check_shown("", "");
    check_shown("plain ~ text \\ \"quoted\"", "plain ~ text \\ \"quoted\"");
    /* A letter, a euro sign, an emoji, U+00A0, U+2029, U+202F, U+2065, U+206A: neighbours of what
     * is spelled out. */
    check_shown("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xC2\xA0 \xE2\x80\xA9 \xE2\x80\xAF "
                "\xE2\x81\xA5 \xE2\x81\xAA",
                "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xC2\xA0 \xE2\x80\xA9 \xE2\x80\xAF "
                "\xE2\x81\xA5 \xE2\x81\xAA");
}

TEST(bytes_that_are_no_utf8_are_spelled_out, "")
{
    check_shown("\xC3(", "\\xc3(");                          /* no second byte */
    check_shown("\xE2\x82", "\\xe2\\x82");                   /* cut */
    check_shown("\xC0\x80\xC1\xBF", "\\xc0\\x80\\xc1\\xbf"); /* longer than needed */
    check_shown("\xE0\x9F\xBF", "\\xe0\\x9f\\xbf");          /* the same */
    check_shown("\xED\xA0\x80", "\\xed\\xa0\\x80");          /* half of a pair of UTF-16 */
    check_shown("\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
    check_shown("\xF5\xFF", "\\xf5\\xff");
}

TEST(a_text_is_cut_between_characters, "")
{
    char shown[8];

    facet_plain_text(shown, sizeof shown, "12345\xC3\xA9z", 8);
    CHECK_STR(shown, "12345\xC3\xA9");
    facet_plain_text(shown, sizeof shown, "123456\xC3\xA9", 8);
    CHECK_STR(shown, "123456");
    facet_plain_text(shown, sizeof shown, "12\033", 3);
    CHECK_STR(shown, "12");
    facet_plain_text(shown, 1, "x", 1);
    CHECK_STR(shown, "");
}

TEST(a_character_in_two_pieces_is_known, "")
{
    CHECK(facet_plain_is_cut("\xE2", 1) && facet_plain_is_cut("\xE2\x82", 2));
    CHECK(!facet_plain_is_cut("\xE2\x82\xAC", 3) && !facet_plain_is_cut("a", 1));
    CHECK(!facet_plain_is_cut("\xE2(", 2) && !facet_plain_is_cut("\xFF", 1));
}
