/* An answer as one page; labels that are hostile, in every format; and two columns as a table. */
#include "answers.h"
#include "xml.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string.h>

static void a_page_holds_all_of_an_answer(sotto_test *t)
{
    static const char proof[] = "c2sp.org/tlog-proof@v1\nindex 7\n";
    const sotto_answer_log log = {.name = "the <log>",
                                  .index = 7,
                                  .size = 9,
                                  .witnesses = 2,
                                  .proof = sotto_bytes_of(proof, sizeof proof - 1)};
    answer a;

    make_of(t, &a, NULL, NULL);
    sotto_bytes page = show_html(t, &a, 4);
    CHECK_EQUAL(t, 3 * 4, sotto_test_count(page, "<rect class=\"bar\"")); /* all, age, ngram */
    CHECK(t, strstr(shown, "<h2>By age</h2>") && strstr(shown, "<h2>Phrases of ngram</h2>"));
    CHECK(t, strstr(shown, "not distinguishable from 0"));
    CHECK(t, strstr(shown, "must be honest: the leader (key:leader-2026a)"));
    CHECK(t, strstr(shown, "&#34;recipe&#34;: &#34;50001&#34;,\n")); /* its bytes, line by line */
    CHECK(t, strstr(shown, "None: the recipe asks for no log."));
    a.view.log = &log;
    (void)show_html(t, &a, 4);
    CHECK(t, strstr(shown, "Entry 7 of the log the &#60;log&#62;, in a tree of 9 entries"));
    CHECK(t, strstr(shown, "c2sp.org/tlog-proof@v1\nindex 7\n</pre>"));
}

/* Whatever a recipe's author writes, a browser loads and runs nothing; the style is the one that the policy's hash is of. */
static void a_page_allows_its_own_style_alone(sotto_test *t)
{
    uint8_t digest[32];
    char base64[64];
    answer a;

    CHECK(t, SHA256((const uint8_t *)sotto_html_style, strlen(sotto_html_style), digest) != NULL);
    (void)EVP_EncodeBlock((uint8_t *)base64, digest, sizeof digest);
    CHECK(t, strcmp(base64, sotto_html_style_hash) == 0);
    make_of(t, &a, OLD, HOSTILE);
    sotto_bytes page = show_html(t, &a, 0);
    CHECK(t, strstr(shown, "content=\"default-src 'none'; style-src 'sha256-"));
    CHECK_EQUAL(t, 1, sotto_test_count(page, "<style>"));
    CHECK_EQUAL(t, 0,
                sotto_test_count(page, " style=") + sotto_test_count(page, "<script") +
                    sotto_test_count(page, "href=") + sotto_test_count(page, "src=") +
                    sotto_test_count(page, "url(") + sotto_test_count(page, "@import"));
}

/* No label is taken for markup, moves a cursor or turns the text beside it around. */
static void hostile_labels_stay_text_everywhere(sotto_test *t)
{
    static const char *const turning[] = {"\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\xa8"};
    static const sotto_view_format formats[] = {SOTTO_VIEW_TEXT, SOTTO_VIEW_JSON, SOTTO_VIEW_SVG,
                                                SOTTO_VIEW_HTML};
    answer a;

    make_of(t, &a, OLD, HOSTILE);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        sotto_bytes text = show(t, &a, formats[i], 0);

        for (size_t j = 0; j < sizeof turning / sizeof turning[0]; j++)
            CHECK_EQUAL(t, 0, sotto_test_count(text, turning[j]));
        CHECK_EQUAL(t, 0, sotto_test_count(text, "\xc2\x9b")); /* CSI, in one character */
        CHECK(t, sotto_test_count(text, "x\\u202egnp.exe\\u2066\\u2028") > 0);
        CHECK(t, sotto_test_count(text, "\xd7\x90"
                                        "b") > 0); /* letters from right to left are letters */
    }
    (void)show_html(t, &a, 0);
    CHECK(t, strstr(shown, "<bdi>&#60;/text&#62;") && strstr(shown, "<bdi>p | q&#60;r"));
    json_t *json = json_loads((show(t, &a, SOTTO_VIEW_JSON, 0), shown), 0, NULL),
           *odd = json_array_get(json_object_get(json, "bins"), 3 * 34);
    CHECK(t, strcmp(json_string_value(json_object_get(odd, "label")),
                    "</text><script>&' | <oov>") == 0);
    json_decref(json);
    (void)show(t, &a, SOTTO_VIEW_SVG, 0);
    CHECK(t, strstr(shown, ">p | q&#60;r") && !strstr(shown, "q\\"));
    (void)show(t, &a, SOTTO_VIEW_TEXT, 0);
    CHECK(t, strstr(shown, "\n  p | q<r") && strstr(shown, "\n  </text><script>&'"));
    (void)show(t, &a, SOTTO_VIEW_CSV, 0); /* for programs: as it is */
    CHECK(t, strstr(shown, "x\xe2\x80\xaegnp.exe"));
}

/* A cell for each pair of the shown rows and columns, with the count of that bin, its interval, and whether it may be 0. */
static void two_columns_make_a_table(sotto_test *t)
{
    answer a;

    make_of(t, &a, NULL, NULL);
    a.result.bins[3 * 34 + 1].low_all = 0;
    (void)show(t, &a, SOTTO_VIEW_TEXT, 3);
    const char *cross = strstr(shown, "\nngram by age: counts above their intervals\n\n");
    CHECK(t, cross != NULL);
    CHECK(t, strstr(cross, "\n  not shown: 31 rows and 3 columns of less\n"));
    CHECK(t, strstr(cross, "  *: not distinguishable from 0\n\nreceipt\n"));
    CHECK(t, strstr(cross, " 11700 ") && strstr(cross, " 11500 to 11900 "));
    sotto_bytes page = show_html(t, &a, 3);
    CHECK(t, strstr(shown, "<h2>ngram by age</h2>"));
    CHECK(t, strstr(shown, "<tr><td><bdi>&#60;oov&#62;</bdi></td><td>11700<br/>"
                           "<span class=\"soft\">11500 to 11900</span></td>"));
    CHECK_EQUAL(t, 8 * 34, sotto_test_count(page, "<br/><span class=\"soft\">"));
    CHECK(t,
          strstr(shown, "<td>11700<br/><span class=\"soft\">11500 to 11900</span></td><td>*43<br/>"
                        "<span class=\"soft\">0 to 243</span></td>"));
    CHECK(t, strstr(shown, "<bdi>hello world &#60;end&#62;</bdi></td><td>5700<br/>")); /* bin 1 */
    a.view.by = "age";
    (void)show(t, &a, SOTTO_VIEW_TEXT, 3);
    CHECK(t, !strstr(shown, " by age: "));
    /* The longer column goes down the page, whichever it is: the bin of age 1 and the first ngram is 34. */
    make_of(t, &a, OLD, "{\"type\": \"integer\", \"min\": 0, \"max\": 40}");
    (void)show_html(t, &a, 3);
    CHECK(t, strstr(shown, "<h2>age by ngram</h2>"));
    CHECK(t, strstr(shown, "<tr><td><bdi>1</bdi></td><td>*43<br/>"));
    CHECK(t,
          strstr(shown, "*: not distinguishable from 0; not shown: 0 rows and 26 columns of less"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_page_holds_all_of_an_answer),
        CASE(a_page_allows_its_own_style_alone),
        CASE(hostile_labels_stay_text_everywhere),
        CASE(two_columns_make_a_table),
    };

    return RUN_TESTS(argc, argv, cases);
}
