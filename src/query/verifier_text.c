/* What can be told from the text alone. This is no parser: it knows quotes, comments and words, and refuses
 * characters that SQLite might read differently. */
#include "query/verifier.h"

#include "base/rule.h"

#include <string.h>

typedef struct sql_reader {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t words;
    uint32_t selects;
    bool joins_by_name;
    bool hints;       /* INDEXED BY or NOT INDEXED                                       */
    bool takes_first; /* a word by which one row can count for more than an equal one has */
    bool parameter;
    bool stray; /* a byte that is not allowed outside quotes */
} sql_reader;

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(uint8_t c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static bool is_keyword(const uint8_t *word, size_t len, const char *keyword)
{
    if (len != strlen(keyword))
        return false;
    for (size_t i = 0; i < len; i++) {
        if ((word[i] | 0x20) != (uint8_t)keyword[i]) /* keywords are letters in lower case */
            return false;
    }
    return true;
}

static bool is_one_of(const uint8_t *word, size_t len, const char *const *keywords, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_keyword(word, len, keywords[i]))
            return true;
    }
    return false;
}

static void take_word(sql_reader *in)
{
    static const char *const by_order[] = {"limit", "group", "distinct", "over", "window"};
    const uint8_t *start = in->at;

    while (in->at != in->end && is_word(*in->at))
        in->at++;
    size_t len = (size_t)(in->at - start);
    in->words++;
    if (is_keyword(start, len, "select") || is_keyword(start, len, "values"))
        in->selects++;
    if (is_keyword(start, len, "using") || is_keyword(start, len, "natural"))
        in->joins_by_name = true;
    if (is_keyword(start, len, "indexed"))
        in->hints = true;
    if (is_one_of(start, len, by_order, sizeof by_order / sizeof by_order[0]))
        in->takes_first = true;
}

/* Up to and including the closing quote. A doubled quote opens again at once, which comes to the same. */
static void skip_quoted(sql_reader *in, uint8_t closing)
{
    in->at++;
    while (in->at != in->end && *in->at != closing)
        in->at++;
    if (in->at != in->end)
        in->at++;
}

static bool skip_comment(sql_reader *in)
{
    size_t left = (size_t)(in->end - in->at);

    if (left < 2 || (memcmp(in->at, "--", 2) != 0 && memcmp(in->at, "/*", 2) != 0))
        return false;
    bool line = in->at[0] == '-';
    for (in->at += 2; in->at != in->end; in->at++) {
        if (line && *in->at == '\n')
            return true;
        if (!line && in->at[0] == '*' && in->end - in->at > 1 && in->at[1] == '/') {
            in->at += 2;
            return true;
        }
    }
    return true;
}

static void take_symbol(sql_reader *in)
{
    uint8_t c = *in->at++;

    if (strchr("?:@$#", c) && c)
        in->parameter = true;
    /* SQLite skips a byte order mark as if it were a space; we would take it for part of a word. */
    else if (!(c >= 0x20 && c < 0x7f) && c != '\t' && c != '\n' && c != '\r')
        in->stray = true;
}

static void read_all(sql_reader *in)
{
    while (in->at != in->end) {
        uint8_t c = *in->at;

        if (is_letter(c))
            take_word(in);
        else if (c >= '0' && c <= '9')
            while (in->at != in->end && is_word(*in->at))
                in->at++;
        else if (c == '\'' || c == '"' || c == '`' || c == '[')
            skip_quoted(in, c == '[' ? ']' : c);
        else if (!skip_comment(in))
            take_symbol(in);
    }
}

static bool is_listed(const sotto_query_policy *policy, sotto_bytes sql)
{
    for (size_t i = 0; i < policy->query_count; i++) {
        if (sotto_bytes_equal_vartime(policy->queries[i], sql))
            return true;
    }
    return false;
}

sotto_status sotto_verifier_read_text(sotto_verifier *verifier, sotto_bytes sql, sotto_err *err)
{
    sotto_query_limits limits = sotto_query_limits_of(verifier->policy);
    sql_reader in = {.at = sql.data, .end = sql.len ? sql.data + sql.len : sql.data};

    if (SOTTO_RULE(limit_text) && sql.len > limits.sql_bytes)
        return sotto_fail(err, SOTTO_TOO_LARGE, "query: %zu bytes, %u allowed", sql.len,
                          (unsigned)limits.sql_bytes);
    if (SOTTO_RULE(no_nul) && sql.len && memchr(sql.data, 0, sql.len))
        return sotto_fail(err, SOTTO_MALFORMED, "query: a NUL, where SQLite would stop reading");
    read_all(&in);
    if (SOTTO_RULE(plain_text) && in.stray)
        return sotto_fail(err, SOTTO_MALFORMED, "query: not plain ASCII outside quotes");
    if (SOTTO_RULE(no_parameters) && in.parameter)
        return sotto_fail(err, SOTTO_DENIED, "query: parameters have no value here");
    /* SQLite compares these columns without asking its authorizer. */
    if (SOTTO_RULE(no_join_by_name) && in.joins_by_name)
        return sotto_fail(err, SOTTO_DENIED,
                          "query: NATURAL and USING hide what they read; use ON");
    /* SQLite reads an index that a query names, without asking its authorizer for the columns that it orders. */
    if (SOTTO_RULE(no_index_hints) && in.hints)
        return sotto_fail(err, SOTTO_DENIED,
                          "query: INDEXED BY and NOT INDEXED are not allowed; leave them out");
    /* A name used twice at every level of nesting doubles at each. 20 short lines are a million terms, all
     * before the first step is taken and the clock is looked at. */
    if (SOTTO_RULE(limit_shape) && (in.selects > limits.selects || in.words > limits.words))
        return sotto_fail(err, SOTTO_TOO_LARGE, "query: %u SELECTs and %u words, %u and %u allowed",
                          (unsigned)in.selects, (unsigned)in.words, (unsigned)limits.selects,
                          (unsigned)limits.words);
    if (SOTTO_RULE(order_seen_in_text) && (in.takes_first || in.selects > 1))
        verifier->order_matters = true;
    verifier->listed = is_listed(verifier->policy, sql);
    if (SOTTO_RULE(listed_only) && !verifier->listed && verifier->policy->field_count == 0)
        return sotto_fail(err, SOTTO_DENIED, "query: not one of the %zu that are allowed",
                          verifier->policy->query_count);
    return SOTTO_OK;
}
