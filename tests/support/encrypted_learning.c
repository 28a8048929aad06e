#include "support/encrypted_learning.h"

#include "base/arena.h"
#include "base/hex.h"
#include "support/recipes.h"

#include <stdio.h>
#include <string.h>

const char sotto_test_encrypted_learning_policy[] =
    "{\"policy\": \"com.example.app\", \"version\": 1, \"analyses\": {\"com.example.digits\":"
    " {\"epsilon\": 5, \"delta\": 1e-5, \"reports\": 6,"
    " \"fields\": [\"digits.pixels\", \"digits.label\"]}}, \"fields\": {"
    "\"digits.pixels\": {\"by\": [\"committee\"], \"epsilon_local\": \"none\", \"epsilon\": 5,"
    " \"delta\": 1e-5, \"reports\": 6}, \"digits.label\": {\"by\": [\"committee\"],"
    " \"epsilon_local\": \"none\", \"epsilon\": 5, \"delta\": 1e-5, \"reports\": 6}},"
    " \"non_sensitive\": [], \"min_cohort\": 20, \"honest\": 0.75, \"trusts\": [\"aero\"],"
    " \"duties\": [\"contributor\", \"verifier\", \"committee\", \"noise\"]}";

sotto_bytes sotto_test_encrypted_learning(sotto_test *t, const uint8_t model[32], const char *old,
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
        " \"rounds\": {\"count\": 48, \"every\": \"1h\", \"goal\": 20, \"largest\": 32,"
        " \"participations\": 3, \"separation\": 2},"
        " \"participation\": {\"type\": \"poisson\", \"rate\": 1.0},"
        " \"privacy\": {\"by\": \"committee\", \"multiplier\": 8, \"adjacency\": \"replacement\","
        " \"epsilon\": 3, \"delta\": 1e-6, \"min_cohort\": %d},"
        " \"aggregation\": {\"trust\": \"aero\", \"server\": \"key:aggregator\","
        " \"log\": \"none\", \"beacon\": \"key:witnesses\","
        " \"devices\": {\"least\": %d, \"most\": %d}, \"corrupt\": 0.03, \"offline\": 0.2,"
        " \"parameters\": \"b87\", \"bits\": 18,"
        " \"committee\": {\"size\": 12, \"corrupt\": 7, \"count\": 1},"
        " \"noise\": {\"size\": 12, \"corrupt\": 7, \"missing\": 1}, \"checks\": 40,"
        " \"proof\": {\"queries\": 118, \"grind\": 20, \"group\": 37}, \"rekey\": \"round\"},"
        " \"schedule\": {\"opens\": \"2026-11-20T00:00:00Z\", \"closes\": "
        "\"2026-11-27T00:00:00Z\", \"precision\": \"1h\"}, \"population\": %d}",
        ENCRYPTED_LEARNING_PARAMETERS, hex, ENCRYPTED_LEARNING_LEAST, ENCRYPTED_LEARNING_DEVICES,
        ENCRYPTED_LEARNING_DEVICES, ENCRYPTED_LEARNING_DEVICES);
    CHECK(t, len > 0 && len < TEXT);
    return old ? sotto_test_replace(t, text, old, new) : sotto_bytes_of(text, (size_t)len);
}
