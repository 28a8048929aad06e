#define _POSIX_C_SOURCE 200809L
#include "support/one_server.h"

#include "base/arena.h"
#include "recipe/calendar.h"
#include "recipe/content.h"
#include "sotto/recipe.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static char *room(sotto_test *t, size_t size)
{
    char *out = sotto_arena_take(&t->arena, size);

    CHECK(t, out);
    return out;
}

sotto_bytes sotto_test_one_server_recipe(sotto_test *t)
{
    enum { SIZE = 2000, DAY = 86400 };
    char *out = room(t, SIZE), opens[SOTTO_CALENDAR_TEXT], closes[SOTTO_CALENDAR_TEXT];
    const int64_t today = (int64_t)time(NULL) / DAY * DAY;

    sotto_calendar_format_time(opens, today - DAY);
    sotto_calendar_format_time(closes, today + 3 * DAY);
    const int len = snprintf(
        out, SIZE,
        "{\"recipe\": \"launches\", \"version\": 1, \"analysis\": \"com.example.launch\",\n"
        " \"query\": \"SELECT ms FROM launches\", \"pick\": \"one-at-random\",\n"
        " \"encode\": {\"ms\": {\"type\": \"buckets\", \"boundaries\": [100, 200, 400],\n"
        "   \"underflow\": \"bucket\", \"overflow\": \"bucket\"}, \"combine\": [\"ms\"]},\n"
        " \"participation\": {\"type\": \"poisson\", \"rate\": 1},\n"
        " \"privacy\": {\"adjacency\": \"replacement\", \"epsilon\": 2.0, \"delta\": 1e-6,\n"
        "   \"min_cohort\": %d, \"by\": \"shares\", \"sigma\": 6, \"honest\": 0.75},\n"
        " \"aggregation\": {\"trust\": \"flamingo\", \"server\": \"key:aggregator\",\n"
        "   \"log\": \"none\", \"beacon\": \"key:witnesses\", \"ring\": \"z32\", \"corrupt\": "
        "0.05,\n"
        "   \"cohort\": %d, \"dropout\": 0.2,\n"
        "   \"decryptors\": {\"count\": %d, \"dropout\": 0.1, \"epoch_rounds\": 10},\n"
        "   \"graph\": {\"degree\": %d, \"neighbours\": %d}, \"prg\": \"aes-128-ctr\"},\n"
        " \"schedule\": {\"opens\": \"%s\", \"closes\": \"%s\", \"precision\": \"1h\"},\n"
        " \"population\": %d, \"on_no_match\": \"no-value\"}\n",
        ONE_SERVER_LEAST, ONE_SERVER_DEVICES, ONE_SERVER_DEVICES, ONE_SERVER_DEVICES - 1,
        ONE_SERVER_NEIGHBOURS, opens, closes, ONE_SERVER_DEVICES);

    CHECK(t, len > 0 && len < SIZE);
    return sotto_bytes_of(out, (size_t)len);
}

sotto_bytes sotto_test_one_server_policy(sotto_test *t, const char *duties)
{
    enum { SIZE = 1000 };
    char *out = room(t, SIZE);
    const int len = snprintf(
        out, SIZE,
        "{\"policy\": \"test\", \"version\": 1,\n"
        " \"analyses\": {\"com.example.launch\": {\"epsilon\": 5.0, \"delta\": 1e-5, \"reports\": "
        "9,\n"
        "   \"fields\": [\"launches.ms\"]}},\n"
        " \"fields\": {\"launches.ms\": {\"epsilon_local\": \"none\", \"by\": [\"shares\"],\n"
        "   \"epsilon\": 5.0, \"delta\": 1e-5, \"reports\": 9}},\n"
        " \"min_cohort\": 10, \"honest\": 0.75, \"trusts\": [\"flamingo\"]%s%s}\n",
        duties ? ", \"duties\": " : "", duties ? duties : "");

    CHECK(t, len > 0 && len < SIZE);
    return sotto_bytes_of(out, (size_t)len);
}

sotto_epoch_round sotto_test_one_server_round(sotto_test *t, sotto_bytes recipe, uint64_t number,
                                              unsigned minutes)
{
    const uint64_t now = ((uint64_t)time(NULL) - 1) * 1000, whole = (uint64_t)minutes * 60000;
    sotto_mistakes *mistakes = sotto_arena_take(&t->arena, sizeof *mistakes);
    const sotto_recipe *read;
    sotto_report_content content;

    CHECK(t, mistakes);
    CHECK_OK(t, sotto_recipe_read(&read, recipe, &t->arena, mistakes, &t->err));
    CHECK_OK(t, sotto_recipe_content(&content, read, &t->err));
    sotto_epoch_round out = {.number = number,
                             .ring = SOTTO_RING_Z32,
                             .length = content.entries,
                             .most = content.max,
                             .least = ONE_SERVER_LEAST,
                             .neighbours = ONE_SERVER_NEIGHBOURS,
                             .edge = UINT64_MAX,
                             .opens = now,
                             .closes = now + whole,
                             .verify_by = now + 2 * whole,
                             .release_by = now + 3 * whole};
    memcpy(out.recipe, read->hash, sizeof out.recipe);
    return out;
}
