#include "view/json.h"

#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char memory[1 << 14];
static sotto_buf out;

static sotto_json begin(sotto_test *t, sotto_json_layout layout)
{
    out = sotto_buf_over(memory, sizeof memory - 1);
    sotto_view view = sotto_view_into(&out, SOTTO_VIEW_JSON);
    return sotto_json_on(sotto_text_on(view.write, view.context, &t->err), layout);
}

static const char *ended(sotto_test *t, sotto_json *j)
{
    CHECK_OK(t, sotto_json_finish(j));
    memory[out.len] = 0;
    return memory;
}

static void fill(sotto_json *j)
{
    sotto_json_object(j, NULL);
    sotto_json_uint(j, "a", 1);
    sotto_json_array(j, "b");
    sotto_json_text(j, NULL, "x");
    sotto_json_object(j, NULL);
    sotto_json_bool(j, "c", true);
    sotto_json_null(j, "d");
    sotto_json_end(j);
    sotto_json_end(j);
    sotto_json_object(j, "e");
    sotto_json_end(j);
    sotto_json_array(j, "f");
}

static void each_layout_keeps_the_order_of_the_calls(sotto_test *t)
{
    sotto_json j = begin(t, SOTTO_JSON_COMPACT);

    fill(&j);
    CHECK(t, strcmp(ended(t, &j),
                    "{\"a\":1,\"b\":[\"x\",{\"c\":true,\"d\":null}],\"e\":{},\"f\":[]}\n") == 0);
    j = begin(t, SOTTO_JSON_SPACED);
    fill(&j);
    CHECK(t, strcmp(ended(t, &j), "{\"a\": 1, \"b\": [\"x\", {\"c\": true, \"d\": null}], "
                                  "\"e\": {}, \"f\": []}\n") == 0);
    j = begin(t, SOTTO_JSON_INDENTED);
    fill(&j);
    CHECK(t, strcmp(ended(t, &j),
                    "{\n  \"a\": 1,\n  \"b\": [\n    \"x\",\n    {\n      \"c\": true,"
                    "\n      \"d\": null\n    }\n  ],\n  \"e\": {},\n  \"f\": []\n}\n") == 0);
}

static void reals_say_that_they_are_reals(sotto_test *t)
{
    sotto_json j = begin(t, SOTTO_JSON_COMPACT);

    sotto_json_array(&j, NULL);
    sotto_json_real(&j, NULL, 4);
    sotto_json_real(&j, NULL, -0.0);
    sotto_json_real(&j, NULL, 0.1);
    sotto_json_real(&j, NULL, 1e-6);
    sotto_json_real(&j, NULL, 1e300);
    sotto_json_real(&j, NULL, (double)NAN);
    sotto_json_real(&j, NULL, (double)INFINITY);
    sotto_json_int(&j, NULL, INT64_MIN);
    sotto_json_uint(&j, NULL, UINT64_MAX);
    sotto_json_seconds(&j, NULL, 2.1e-5);
    CHECK(t, strcmp(ended(t, &j), "[4.0,0.0,0.1,1e-6,1e300,null,null,-9223372036854775808,"
                                  "18446744073709551615,0.000021000]\n") == 0);
}

static void times_and_bytes_are_texts(sotto_test *t)
{
    static const uint8_t bytes[] = {0, 0xff, 0x5a};
    sotto_json j = begin(t, SOTTO_JSON_COMPACT);

    sotto_json_array(&j, NULL);
    sotto_json_time(&j, NULL, 1795132800);
    sotto_json_hex(&j, NULL, sotto_bytes_of(bytes, sizeof bytes));
    sotto_json_hex(&j, NULL, sotto_bytes_of(NULL, 0));
    sotto_json_text(&j, NULL, NULL);
    CHECK(t, strcmp(ended(t, &j), "[\"2026-11-20T00:00:00Z\",\"00ff5a\",\"\",null]\n") == 0);
}

static void strings_are_escaped_once(sotto_test *t)
{
    sotto_json j = begin(t, SOTTO_JSON_COMPACT);

    sotto_json_object(&j, NULL);
    sotto_json_text(&j, "k\"", "q\"b\\ \b\f\n\r\t\x01\x1b\x7f / caf\xc3\xa9 \xc2\x9b \xff");
    CHECK(t, strcmp(ended(t, &j), "{\"k\\\"\":\"q\\\"b\\\\ \\b\\f\\n\\r\\t\\u0001\\u001b\\u007f / "
                                  "caf\xc3\xa9 \\u009b \xef\xbf\xbd\"}\n") == 0);
}

/* Whatever bytes a text holds, another parser reads the object, and the same text if it was UTF-8. */
static void any_bytes_make_valid_json(sotto_test *t)
{
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b += 5) {
            uint8_t bytes[] = {'<', (uint8_t)a, (uint8_t)b, 0xa0, '>'};
            sotto_json j = begin(t, SOTTO_JSON_SPACED);
            json_t *wanted = json_stringn((const char *)bytes, sizeof bytes);

            sotto_json_object(&j, NULL);
            sotto_json_bytes(&j, "text", sotto_bytes_of(bytes, sizeof bytes));
            (void)ended(t, &j);
            json_t *read = json_loadb(memory, out.len, JSON_ALLOW_NUL, NULL);
            CHECK(t, json_is_object(read));
            CHECK(t, !wanted || json_equal(wanted, json_object_get(read, "text")));
            json_decref(read);
            json_decref(wanted);
        }
    }
}

static void json_that_is_too_deep_fails(sotto_test *t)
{
    sotto_json j = begin(t, SOTTO_JSON_COMPACT);

    for (int i = 0; i < SOTTO_JSON_DEPTH + 1; i++)
        sotto_json_array(&j, NULL);
    CHECK_STATUS(t, SOTTO_BUG, sotto_json_finish(&j));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(each_layout_keeps_the_order_of_the_calls),
        CASE(reals_say_that_they_are_reals),
        CASE(times_and_bytes_are_texts),
        CASE(strings_are_escaped_once),
        CASE(any_bytes_make_valid_json),
        CASE(json_that_is_too_deep_fails),
    };

    return RUN_TESTS(argc, argv, cases);
}
