/* Simulated devices have the same recipe and policy by the thousand. To compile the query took longer than to run it, and all that
 * compiling finds out follows from the text, the streams and the policy. So one compiled query stays with its store. */
#include "base/alloc.h"
#include "base/rule.h"
#include "device/events/query_internal.h"
#include "query/compile.h"

#include <string.h>

enum { TERMS = 2048 };

/* Of a store: one query and the policy that it was compiled under. */
struct sotto_store_kept {
    sotto_query *query; /* NULL: somebody has it */
    size_t len;
    uint8_t terms[TERMS];
};

static void write_names(sotto_writer *w, const sotto_field_name *names, size_t count)
{
    sotto_write_uint(w, count, 8);
    for (size_t i = 0; i < count; i++) {
        sotto_write_bytes(w, sotto_bytes_of(names[i].stream, strlen(names[i].stream) + 1));
        sotto_write_bytes(w, sotto_bytes_of(names[i].field, strlen(names[i].field) + 1));
    }
}

/* All that compiling asks of a policy, as bytes that differ where it does. `since` is no part of it: it is asked when the query runs. A
 * list of whole queries would have to be searched for the text anew; such a policy has no terms. */
static size_t terms_of(uint8_t out[TERMS], const sotto_query_policy *policy)
{
    const sotto_query_limits limits = sotto_query_limits_of(policy);
    sotto_buf buf = sotto_buf_over(out, TERMS);
    sotto_writer w = sotto_writer_on(&buf);

    if (policy->query_count > 0)
        return 0;
    write_names(&w, policy->fields, policy->field_count);
    write_names(&w, policy->non_sensitive, policy->non_sensitive_count);
    sotto_write_uint(&w, policy->by_time, 1);
    sotto_write_bytes(&w, sotto_bytes_of((const uint8_t *)&limits, sizeof limits));
    return sotto_writer_finish(&w, "a policy", NULL) == SOTTO_OK ? buf.len : 0;
}

static bool is_same(const struct sotto_store_kept *kept, const sotto_query_policy *policy,
                    sotto_bytes sql)
{
    const char *text = sqlite3_sql(kept->query->statement);
    uint8_t terms[TERMS];
    const size_t len = terms_of(terms, policy);

    if (SOTTO_RULE(kept_query_same_policy) &&
        (len != kept->len || memcmp(terms, kept->terms, len) != 0))
        return false;
    return sql.len == strlen(text) && memcmp(sql.data, text, sql.len) == 0;
}

static void let_go(sotto_query *query)
{
    query->stays = false;
    sotto_query_close(query);
}

static sotto_query *take(sotto_store *store, const sotto_query_policy *policy, sotto_bytes sql)
{
    struct sotto_store_kept *kept = store->kept;
    sotto_query *query = kept ? kept->query : NULL;

    if (!query)
        return NULL;
    const bool same = is_same(kept, policy, sql);
    kept->query = NULL;
    if (!same) {
        let_go(query); /* the connection is wanted for the other */
        return NULL;
    }
    query->verifier.policy = policy;
    query->verifier.why = (sotto_err){0};
    return query;
}

static bool keep(sotto_query *query)
{
    sotto_store *store = query->store;

    if (!store->kept)
        store->kept = sotto_alloc(sizeof *store->kept);
    if (!store->kept || store->kept->query)
        return false;
    store->kept->len = terms_of(store->kept->terms, query->verifier.policy);
    if (store->kept->len == 0)
        return false;
    (void)sqlite3_db_release_memory(query->db); /* no page that is to be erased */
    store->kept->query = query;
    return true;
}

static void drop(sotto_store *store)
{
    struct sotto_store_kept *kept = store->kept;

    store->kept = NULL;
    if (kept && kept->query)
        let_go(kept->query);
    sotto_release(kept, kept ? sizeof *kept : 0);
}

static const sotto_kept_queries queries = {take, keep, drop};
const sotto_kept_queries *const sotto_linked_queries = &queries;
