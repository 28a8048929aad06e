#include "support/judged.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 8192 };

static const char good[] =
    "{ \"recipe\": \"digits-7\", \"version\": 1, \"analysis\": \"com.example.digits\",\n"
    "  \"description\": \"Reads digits.\",\n"
    "  \"learn\": { \"model\": {\"type\": \"lenet\", \"parameters\": 48846, \"init\": "
    "\"9f00000000000000000000000000000000000000000000000000000000000001\"},\n"
    "    \"data\": {\"query\": \"SELECT pixels, label FROM digits\", \"most_rows\": 100},\n"
    "    \"local\": {\"algorithm\": \"fedavg\", \"epochs\": 1, \"batch\": 20, \"rate\": 0.1, "
    "\"decay\": 0.99},\n"
    "    \"update\": {\"clip\": 0.5, \"scale\": 32768, \"weights\": \"equal\"},\n"
    "    \"server\": {\"optimizer\": \"sgd\", \"rate\": 1.0} },\n"
    "  \"rounds\": {\"count\": 150, \"every\": \"1h\", \"goal\": 20000, \"largest\": 40000, "
    "\"grace\": \"10m\", \"participations\": 4, \"separation\": 20},\n"
    "  \"participation\": {\"type\": \"poisson\", \"rate\": 0.03},\n"
    "  \"privacy\": {\"by\": \"shares\", \"law\": \"discrete-gaussian\", \"multiplier\": 8.0, "
    "\"adjacency\": \"replacement\", \"epsilon\": 4.0, \"delta\": 1e-6, \"min_cohort\": 20000},\n"
    "  \"aggregation\": {\"trust\": \"split\", \"leader\": \"key:leader-2026a\", \"helper\": "
    "\"key:helper-2026a\", \"proof\": {\"type\": \"pine\", \"bound_factor\": 19}},\n"
    "  \"schedule\": {\"opens\": \"2026-12-01T00:00:00Z\", \"closes\": \"2026-12-08T00:00:00Z\", "
    "\"precision\": \"1h\"},\n"
    "  \"population\": 1000000 }\n";

sotto_bytes sotto_test_learning_with(sotto_test *t, const char *old, const char *new)
{
    char *text = sotto_arena_take(&t->arena, TEXT);
    const char *at = old ? strstr(good, old) : good + sizeof good - 1;

    CHECK(t, text != NULL && at != NULL);
    (void)snprintf(text, TEXT, "%.*s%s%s", (int)(at - good), good, old ? new : "",
                   at + (old ? strlen(old) : 0));
    return sotto_bytes_of(text, strlen(text));
}

sotto_bytes sotto_test_learning_sound(sotto_test *t)
{
    return sotto_test_learning_with(t, "\"multiplier\": 8.0",
                                    "\"multiplier\": 4.0, \"honest\": 0.9");
}

sotto_test_judged *sotto_test_judge(sotto_test *t, sotto_bytes text, const sotto_policy *policy)
{
    sotto_test_judged *j = sotto_arena_take(&t->arena, sizeof *j);

    CHECK(t, j != NULL);
    j->status = sotto_learning_read(&j->learning, text, &t->arena, &j->mistakes, &t->err);
    if (j->status == SOTTO_OK)
        j->status = sotto_learning_judge(&j->verdict, &j->claim, j->learning, policy, NULL,
                                         &j->mistakes, &t->err);
    sotto_err_clear(&t->err);
    return j;
}

const sotto_mistake *sotto_test_mistake(const sotto_test_judged *j, const char *path,
                                        sotto_severity severity)
{
    for (size_t i = 0; i < j->mistakes.count; i++)
        if (strcmp(j->mistakes.items[i].path, path) == 0 &&
            j->mistakes.items[i].severity == severity)
            return &j->mistakes.items[i];
    return NULL;
}

void sotto_test_check_mistake(sotto_test *t, const sotto_test_judged *j, const char *path,
                              const char *what)
{
    const sotto_mistake *m = sotto_test_mistake(j, path, SOTTO_MISTAKE);

    if (!m || !strstr(m->what, what))
        for (size_t i = 0; i < j->mistakes.count; i++)
            (void)fprintf(stderr, "%s: %s (%s)\n", j->mistakes.items[i].path,
                          j->mistakes.items[i].what, j->mistakes.items[i].accepted);
    CHECK(t, j->status != SOTTO_OK && m != NULL && strstr(m->what, what) != NULL);
}
