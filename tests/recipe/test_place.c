/* Every value that the JSON library sees stands where the walk says. */
#include "recipe/place.h"

#include "support/recipes.h"

#include <jansson.h>
#include <string.h>

/* What the span holds is the very value; then the values within. */
static void check_node(sotto_test *t, sotto_bytes text, const sotto_place *place, json_t *node)
{
    sotto_span span;
    const char *key;
    json_t *value, *again;
    size_t index;

    CHECK(t, sotto_place_find(place, text, &span));
    again = json_loadb((const char *)text.data + span.value, span.end - span.value, JSON_DECODE_ANY,
                       NULL);
    CHECK(t, again && json_equal(again, node));
    json_decref(again);
    json_object_foreach(node, key, value)
    {
        sotto_place at = {place, key, 0};

        check_node(t, text, &at, value);
    }
    json_array_foreach(node, index, value)
    {
        sotto_place at = {place, NULL, index};

        check_node(t, text, &at, value);
    }
}

static void check_text(sotto_test *t, sotto_bytes text)
{
    json_t *root = json_loadb((const char *)text.data, text.len, JSON_DECODE_ANY, NULL);

    CHECK(t, root != NULL);
    check_node(t, text, NULL, root);
    json_decref(root);
}

static void every_value_is_found_where_it_stands(sotto_test *t)
{
    check_text(t, sotto_test_recipe_text(t, NULL, NULL));
    check_text(t, sotto_test_policy_text(t, NULL, NULL));
    check_text(t, sotto_test_parties_text(t, NULL, NULL));
}

static void keys_with_escapes_are_found(sotto_test *t)
{
    static const char *const texts[] = {
        "{\"\\u0061b\": 1, \"a\": {\"\\\"q\\\\\": [true, null, {}]}}",
        " \t\r\n[ ] ",
        "{\"\\ud83d\\ude00\": 1, \"\xf0\x9f\x98\x81\": [1.5e3 , \"]}\"]}",
        "{\"\\n\\t\\/\\b\\f\\r\": {\"\": []}, \"\\u00e9\\u20ac\": -0}",
        "\"only a text\"",
        "17",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_text(t, sotto_bytes_of(texts[i], strlen(texts[i])));
}

static void what_is_not_there_is_not_found(sotto_test *t)
{
    static const char text[] = "{\"a\": [1, 2], \"b\": {\"c\": 3}}";
    sotto_bytes json = sotto_bytes_of(text, sizeof text - 1);
    sotto_place a = {NULL, "a", 0}, third = {&a, NULL, 2}, key = {&a, "c", 0}, b = {NULL, "b", 0},
                item = {&b, NULL, 0}, c = {NULL, "c", 0};
    sotto_span span;

    CHECK(t, !sotto_place_find(&third, json, &span));
    CHECK(t, !sotto_place_find(&key, json, &span));
    CHECK(t, !sotto_place_find(&item, json, &span));
    CHECK(t, !sotto_place_find(&c, json, &span));
}

static void positions_count_lines_and_bytes_from_one(sotto_test *t)
{
    static const char text[] = "{\n  \"a\": 1,\n  \"b\": 2\n}";
    sotto_place b = {NULL, "b", 0};
    unsigned line, column;
    sotto_span span;

    CHECK(t, sotto_place_find(&b, sotto_bytes_of(text, sizeof text - 1), &span));
    sotto_place_position(sotto_bytes_of(text, sizeof text - 1), span.key, &line, &column);
    CHECK_EQUAL(t, 3, line);
    CHECK_EQUAL(t, 3, column);
}

static void paths_read_like_code(sotto_test *t)
{
    sotto_place encode = {NULL, "encode", 0}, tree = {&encode, "tree", 0},
                phrase = {&tree, "i went", 0}, item = {&phrase, NULL, 3};
    char text[64], little[8];

    sotto_place_format(&item, text, sizeof text);
    CHECK(t, strcmp(text, "encode.tree[\"i went\"][3]") == 0);
    sotto_place_format(&item, little, sizeof little);
    CHECK(t, strcmp(little, "encode.") == 0);
}

static void depth_is_counted_outside_texts(sotto_test *t)
{
    static const char text[] = "{\"[[[\\\"[\": [[]]}", deep[] = "[[[[";
    size_t at = 0;

    CHECK_EQUAL(t, 3, sotto_json_depth(sotto_bytes_of(text, sizeof text - 1), 10, &at));
    CHECK_EQUAL(t, 3, sotto_json_depth(sotto_bytes_of(deep, sizeof deep - 1), 2, &at));
    CHECK_EQUAL(t, 2, at);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_value_is_found_where_it_stands),
        CASE(keys_with_escapes_are_found),
        CASE(what_is_not_there_is_not_found),
        CASE(positions_count_lines_and_bytes_from_one),
        CASE(paths_read_like_code),
        CASE(depth_is_counted_outside_texts),
    };

    return RUN_TESTS(argc, argv, cases);
}
