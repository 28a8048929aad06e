#include "support/queries.h"

#include "sim/clock.h"

#include <stdio.h>
#include <string.h>

static const sotto_field_name fields[] = {
    {"keyboard_ngrams", "age"}, {"keyboard_ngrams", "ngram"}, {"health", "pulse"}};
static const sotto_field_name non_sensitive[] = {{"keyboard_ngrams", "age"}};
const sotto_query_policy sotto_test_policy = {
    .fields = fields, .field_count = 3, .non_sensitive = non_sensitive, .non_sensitive_count = 1};

static void spell(sotto_answer *answer, const sotto_value *value)
{
    char *at = answer->text + answer->len;
    size_t room = sizeof answer->text - answer->len;
    int wrote = 0;

    if (value->type == SOTTO_TYPE_INTEGER)
        wrote = snprintf(at, room, "%lld|", (long long)value->as.integer);
    else if (value->type == SOTTO_TYPE_REAL)
        wrote = snprintf(at, room, "%.17g|", value->as.real);
    else if (value->type == SOTTO_TYPE_TEXT)
        wrote =
            snprintf(at, room, "%.*s|", (int)value->as.text.len, (const char *)value->as.text.data);
    else
        wrote = snprintf(at, room, "null|");
    answer->len += (size_t)wrote < room ? (size_t)wrote : room - 1;
}

sotto_status sotto_test_take_row(void *context, const sotto_value *values, size_t count,
                                 sotto_err *err)
{
    sotto_answer *answer = context;

    (void)err;
    for (size_t i = 0; i < count; i++)
        spell(answer, &values[i]);
    answer->rows++;
    return SOTTO_OK;
}

static void note_reads(sotto_answer *answer, const sotto_query *query)
{
    size_t count, used = 0;
    const sotto_access *accessed = sotto_query_accessed(query, &count);

    for (size_t i = 0; i < count && used < sizeof answer->read; i++)
        used += (size_t)snprintf(answer->read + used, sizeof answer->read - used, "%s%s.%s",
                                 i ? " " : "", accessed[i].stream, accessed[i].field);
}

sotto_answer sotto_test_ask(sotto_store *store, const sotto_query_policy *policy, sotto_bytes sql,
                            sotto_err *err)
{
    static sotto_sim_clock still;
    const sotto_clock clock = sotto_sim_clock_of(&still);
    sotto_answer answer = {0};
    sotto_query *query;

    if (err)
        *err = (sotto_err){0};
    answer.status = sotto_query_open(&query, store, policy, sql, &clock, err);
    answer.opened = answer.status == SOTTO_OK;
    if (answer.opened) {
        answer.status = sotto_query_run(query, sotto_test_take_row, &answer, err);
        note_reads(&answer, query);
    }
    sotto_query_close(query);
    return answer;
}

sotto_answer sotto_test_ask_text(sotto_store *store, const sotto_query_policy *policy,
                                 const char *sql, sotto_err *err)
{
    return sotto_test_ask(store, policy, sotto_bytes_of(sql, strlen(sql)), err);
}
