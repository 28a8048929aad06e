#include "support/one_learning.h"

#include "base/arena.h"
#include "base/hex.h"
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

const char sotto_test_one_learning_policy[] =
    "{\"policy\": \"com.example.app\", \"version\": 1, \"analyses\": {\"com.example.digits\":"
    " {\"epsilon\": 5, \"delta\": 1e-5, \"reports\": 6,"
    " \"fields\": [\"digits.pixels\", \"digits.label\"]}}, \"fields\": {"
    "\"digits.pixels\": {\"by\": [\"shares\"], \"epsilon_local\": \"none\", \"epsilon\": 5,"
    " \"delta\": 1e-5, \"reports\": 6}, \"digits.label\": {\"by\": [\"shares\"],"
    " \"epsilon_local\": \"none\", \"epsilon\": 5, \"delta\": 1e-5, \"reports\": 6}},"
    " \"non_sensitive\": [], \"min_cohort\": 10, \"honest\": 0.75, \"trusts\": [\"flamingo\"],"
    " \"duties\": [\"client\"]}";

sotto_bytes sotto_test_one_learning(sotto_test *t, const uint8_t model[32], const char *old,
                                    const char *new)
{
    enum { TEXT = 4096 };
    char *text = sotto_arena_take(&t->arena, TEXT), hex[65];

    CHECK(t, text != NULL);
    sotto_hex_encode(hex, sotto_bytes_of(model, 32));
    const int len = snprintf(
        text, TEXT,
        "{\"recipe\": \"digits\", \"version\": 1, \"analysis\": \"com.example.digits\","
        " \"learn\": {\"model\": {\"type\": \"own\", \"parameters\": %d, \"init\": \"%s\"},"
        " \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": 2},"
        " \"local\": {\"batch\": 20, \"rate\": 0.1},"
        " \"update\": {\"clip\": 0.5, \"scale\": 4096}, \"server\": {}},"
        " \"rounds\": {\"count\": 48, \"every\": \"1h\", \"goal\": 10, \"largest\": 12,"
        " \"participations\": 3, \"separation\": 2},"
        " \"participation\": {\"type\": \"poisson\", \"rate\": 1.0},"
        " \"privacy\": {\"by\": \"shares\", \"multiplier\": 8, \"adjacency\": \"replacement\","
        " \"epsilon\": 3, \"delta\": 1e-6, \"min_cohort\": %d, \"honest\": 0.75},"
        " \"aggregation\": {\"trust\": \"flamingo\", \"server\": \"key:aggregator\","
        " \"log\": \"none\", \"beacon\": \"key:witnesses\", \"ring\": \"z32\","
        " \"corrupt\": 0.05, \"cohort\": %d, \"dropout\": 0.1,"
        " \"decryptors\": {\"count\": %d, \"dropout\": 0.1, \"epoch_rounds\": 10},"
        " \"graph\": {\"degree\": %d, \"neighbours\": 4}, \"prg\": \"aes-128-ctr\"},"
        " \"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": "
        "\"2026-11-27T00:00:00Z\", \"precision\": \"1h\"}, \"population\": %d}",
        ONE_LEARNING_PARAMETERS, hex, ONE_LEARNING_LEAST, ONE_LEARNING_DEVICES,
        ONE_LEARNING_DEVICES, ONE_LEARNING_DEVICES - 1, ONE_LEARNING_DEVICES);
    CHECK(t, len > 0 && len < TEXT);
    return old ? sotto_test_replace(t, text, old, new) : sotto_bytes_of(text, (size_t)len);
}
