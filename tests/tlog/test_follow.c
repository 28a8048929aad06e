/* Whoever follows a log sees every entry once, and notices forks, rollbacks and entries that were never signed. */
#include "notes.h"

#include "support/directory.h"
#include "tlog/files.h"
#include "tlog/follow.h"
#include "tlog/store.h"

#include <stdio.h>

static sotto_status fetch(void *context, const char *path, sotto_buf *out, sotto_err *err)
{
    return sotto_log_file_read(out, context, path, err);
}

typedef struct seen {
    uint64_t count, next;
    bool in_order;
} seen;

static void tell(void *context, uint64_t index, sotto_bytes entry)
{
    seen *s = context;
    char text[32];

    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)index);
    s->in_order = (s->count == 0 || (s->in_order && index == s->next)) &&
                  sotto_bytes_equal_vartime(entry, bytes_of(text));
    s->next = index + 1;
    s->count++;
}

typedef struct fixture {
    test_log l;
    sotto_log_store *store;
    const char *directory;
    sotto_log_source source;
    uint8_t *room;
} fixture;

static void set_up(sotto_test *t, fixture *f)
{
    memset(f, 0, sizeof *f);
    test_log_open(t, &f->l);
    f->l.trust.quorum = 0;
    f->directory = sotto_test_temp(t, "log");
    CHECK_OK(t, sotto_log_store_open(
                    &f->store,
                    &(sotto_log_store_options){.directory = f->directory, .signer = &f->l.log},
                    &t->err));
    f->source = (sotto_log_source){fetch, (void *)f->directory};
    f->room = sotto_arena_take(&t->arena, SOTTO_LOG_BUNDLE_MAX);
    CHECK(t, f->room != NULL);
}

static void tear_down(fixture *f)
{
    sotto_log_store_close(f->store);
    test_log_close(&f->l);
}

static void grow(sotto_test *t, fixture *f, uint64_t size)
{
    for (uint64_t i = sotto_log_store_signed(f->store, NULL)->size; i < size; i++) {
        char text[32];
        uint64_t index;
        const int len = snprintf(text, sizeof text, "%llu", (unsigned long long)i);

        CHECK_OK(t,
                 sotto_log_store_add(f->store, &index, sotto_bytes_of(text, (size_t)len), &t->err));
    }
    CHECK_OK(t, sotto_log_store_commit(f->store, &t->err));
}

static void every_entry_is_told_once(sotto_test *t)
{
    static const uint64_t sizes[] = {0, 3, 3, 256, 300, 700};
    sotto_checkpoint from = {0}, to;
    fixture f;

    set_up(t, &f);
    for (size_t i = 1; i < sizeof sizes / sizeof sizes[0]; i++) {
        sotto_buf note = sotto_test_buf(t, 8192);
        seen s = {0};

        grow(t, &f, sizes[i]);
        CHECK_OK(t, sotto_log_latest(&f.source, &note, &to, &f.l.trust, &t->err));
        CHECK_OK(t, sotto_log_follow(&f.source, &from, &to, f.room, tell, &s, &t->err));
        CHECK_EQUAL(t, sizes[i] - sizes[i - 1], s.count);
        CHECK(t, s.count == 0 || s.in_order);
        from = to;
    }
    tear_down(&f);
}

static void a_proof_is_made_of_what_is_served(sotto_test *t)
{
    sotto_inclusion inclusion = {.index = 299};
    sotto_buf note = sotto_test_buf(t, 8192);
    sotto_checkpoint now;
    fixture f;

    set_up(t, &f);
    grow(t, &f, 700);
    CHECK_OK(t, sotto_log_latest(&f.source, &note, &now, &f.l.trust, &t->err));
    CHECK_OK(t, sotto_log_prove(&f.source, &inclusion, now.size, &t->err));
    inclusion.checkpoint = sotto_buf_bytes(&note);
    CHECK_OK(t, sotto_inclusion_check(&inclusion, &now, bytes_of("299"), &f.l.trust, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_inclusion_check(&inclusion, &now, bytes_of("300"), &f.l.trust, &t->err));
    tear_down(&f);
}

static void a_fork_is_noticed(sotto_test *t)
{
    sotto_checkpoint from, to;
    seen s = {0};
    fixture f;

    set_up(t, &f);
    grow(t, &f, 10);
    from = *sotto_log_store_signed(f.store, NULL);
    grow(t, &f, 20);
    to = *sotto_log_store_signed(f.store, NULL);
    from.root.bytes[3] ^= 1;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_log_follow(&f.source, &from, &to, f.room, tell, &s, &t->err));
    CHECK_REASON(t, "fork: its tree of 10 entries is not the one that was seen");
    CHECK_EQUAL(t, 0, s.count);
    tear_down(&f);
}

static void a_rollback_is_noticed(sotto_test *t)
{
    sotto_checkpoint from, to;
    seen s = {0};
    fixture f;

    set_up(t, &f);
    grow(t, &f, 10);
    to = *sotto_log_store_signed(f.store, NULL);
    grow(t, &f, 20);
    from = *sotto_log_store_signed(f.store, NULL);
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_log_follow(&f.source, &from, &to, f.room, tell, &s, &t->err));
    CHECK_REASON(t, "the log was rolled back: it has 10 entries, and 20 were seen");
    tear_down(&f);
}

static void entries_that_were_not_signed_are_noticed(sotto_test *t)
{
    const sotto_checkpoint from = {0};
    sotto_checkpoint to;
    seen s = {0};
    fixture f;

    set_up(t, &f);
    grow(t, &f, 1);
    to = *sotto_log_store_signed(f.store, NULL);
    CHECK_OK(t, sotto_log_file_replace(f.directory, "tile/entries/000.p/1",
                                       sotto_bytes_of("\0\1x", 3), &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_log_follow(&f.source, &from, &to, f.room, tell, &s, &t->err));
    CHECK_REASON(t, "its entries are not those of the tree that it signed");
    CHECK_OK(t, sotto_log_file_replace(f.directory, "tile/entries/000.p/1",
                                       sotto_bytes_of("\0\2x", 3), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_log_follow(&f.source, &from, &to, f.room, tell, &s, &t->err));
    CHECK_REASON(t, "entry bundle: an entry is cut off");
    tear_down(&f);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_entry_is_told_once),
        CASE(a_proof_is_made_of_what_is_served),
        CASE(a_fork_is_noticed),
        CASE(a_rollback_is_noticed),
        CASE(entries_that_were_not_signed_are_noticed),
    };

    return RUN_TESTS(argc, argv, cases);
}
