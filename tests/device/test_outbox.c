/* Reports that wait, and the record of what left. */
#include "query/sqlite.h"
#include "support/ledger.h"

#include <stdio.h>
#include <string.h>

#define NOW SOTTO_TEST_NOW

static void pay(sotto_test *t, sotto_ledger *ledger, const char *recipe, uint64_t number)
{
    const sotto_charge charge = sotto_test_charge(t, recipe, "0.3");
    const sotto_report report = sotto_test_report(t, number);

    CHECK_OK(t, sotto_ledger_spend(ledger, &charge, &report, NOW, NULL, &t->err));
}

static uint64_t waiting(sotto_test *t, sotto_ledger *ledger)
{
    uint64_t count;

    CHECK_OK(t, sotto_outbox_count(ledger, &count, &t->err));
    return count;
}

static void send(sotto_test *t, sotto_ledger *ledger, sotto_test_wire *wire)
{
    const sotto_transport transport = sotto_test_transport(wire);

    CHECK_OK(t, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
}

static void a_report_leaves_as_it_was_paid_for(sotto_test *t)
{
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);

    pay(t, ledger, "a", 1);
    pay(t, ledger, "b", 2);
    CHECK_EQUAL(t, 2, waiting(t, ledger));
    send(t, ledger, &wire);
    CHECK_EQUAL(t, 2, wire.distinct);
    CHECK_EQUAL(t, 0, waiting(t, ledger));
    send(t, ledger, &wire); /* nothing is left to send */
    CHECK_EQUAL(t, 2, wire.calls);
    CHECK_EQUAL(t, 2, sotto_test_recorded(t, ledger, SOTTO_RECORD_SPENT));
    CHECK_EQUAL(t, 2, sotto_test_recorded(t, ledger, SOTTO_RECORD_LEFT));
    CHECK_EQUAL(t, 2, sotto_test_recorded(t, ledger, SOTTO_RECORD_ACKNOWLEDGED));
    sotto_ledger_close(ledger);
}

static void a_retry_sends_the_same_bytes(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_LATER};
    sotto_spent spent;

    for (int start = 0; start < 3; start++) {
        sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);

        if (start == 0)
            pay(t, ledger, "a", 1);
        send(t, ledger, &wire);
        send(t, ledger, &wire);
        CHECK_EQUAL(t, 1, waiting(t, ledger));
        CHECK_OK(t,
                 sotto_ledger_spent_by_analysis(ledger, &spent, SOTTO_TEST_ANALYSIS, NOW, &t->err));
        CHECK_EQUAL(t, 1, spent.reports);
        CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_LEFT));
        sotto_ledger_close(ledger);
    }
    CHECK_EQUAL(t, 6, wire.calls);
    CHECK_EQUAL(t, 1, wire.distinct);
    CHECK(t, !wire.differed);
}

typedef struct resealing {
    uint64_t asked;
    sotto_bytes inputs; /* that it must be given each time */
    bool others;
    sotto_delivery answer;
    uint8_t last[512];
    uint64_t calls;
} resealing;

static sotto_delivery answer_outdated(void *context, const sotto_report *report)
{
    resealing *r = context;

    r->calls++;
    memcpy(r->last, report->bytes.data, report->bytes.len < 512 ? report->bytes.len : 512);
    return report->bytes.data[0] == 'R' ? r->answer : SOTTO_DELIVERY_OUTDATED;
}

static sotto_status seal_to_new_key(void *context, const sotto_report *report, sotto_buf *sealed,
                                    sotto_err *err)
{
    resealing *r = context;
    sotto_writer out = sotto_writer_on(sealed);

    r->asked++;
    r->others = r->others || !sotto_bytes_equal_vartime(r->inputs, report->inputs);
    sotto_write_uint(&out, 'R', 1);
    sotto_write_uint(&out, r->asked, 1);
    sotto_write_bytes(&out, report->inputs);
    return sotto_writer_finish(&out, "sealed", err);
}

static void an_outdated_key_is_replaced_once_around_the_same_shares(sotto_test *t)
{
    resealing r = {.inputs = sotto_test_report(t, 1).inputs, .answer = SOTTO_DELIVERY_LATER};
    const sotto_transport transport = {
        .send = answer_outdated, .reseal = seal_to_new_key, .context = &r};
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);

    pay(t, ledger, "a", 1);
    CHECK_OK(t, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
    CHECK_EQUAL(t, 2, r.calls); /* outdated, then with the new key */
    CHECK(t, r.last[0] == 'R' && r.last[1] == 1);
    sotto_ledger_close(ledger);
    ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    CHECK_OK(t, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
    CHECK(t, r.last[0] == 'R' && r.last[1] == 1); /* the bytes that left are the ones kept */
    r.answer = SOTTO_DELIVERY_OUTDATED;
    CHECK_OK(t, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
    CHECK_EQUAL(t, 1, r.asked);
    CHECK(t, !r.others);
    CHECK_EQUAL(t, 0, waiting(t, ledger));
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_RESEALED));
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_GIVEN_UP));
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_SPENT));
    sotto_ledger_close(ledger);
}

static void an_outdated_report_waits_while_no_new_key_is_known(sotto_test *t)
{
    resealing r = {0};
    const sotto_transport transport = {.send = answer_outdated, .context = &r};
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);

    pay(t, ledger, "a", 1);
    CHECK_OK(t, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
    CHECK_EQUAL(t, 1, waiting(t, ledger));
    sotto_ledger_close(ledger);
}

/* ---- nothing leaves before ------------------------------------------------------------------------------ */

static void no_byte_leaves_before_every_witness_knows(sotto_test *t)
{
    sotto_test_host host = {0};
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    const sotto_transport transport = sotto_test_transport(&wire);
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, &host, &sotto_test_wide);
    uint64_t before = host.generation;

    host.unreachable = true;
    pay(t, ledger, "a", 1); /* paid, and it can wait */
    CHECK_STATUS(t, SOTTO_IO, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
    CHECK_EQUAL(t, 0, wire.calls);
    host.unreachable = false;
    CHECK_OK(t, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
    CHECK_EQUAL(t, 1, wire.calls);
    CHECK(t, host.generation > before);
    sotto_ledger_close(ledger);
}

typedef struct onlooker {
    sotto_test *t;
    const char *path, *copy;
    int64_t left;
} onlooker;

/* While the transport holds the report: what another program finds. */
static void look_on(void *context)
{
    onlooker *o = context;
    sqlite3 *db;
    FILE *out = fopen(o->copy, "wb");
    sotto_bytes file = sotto_test_read_file(o->t, o->path);

    CHECK(o->t, out && fwrite(file.data, 1, file.len, out) == file.len && fclose(out) == 0);
    CHECK(o->t, sqlite3_open_v2(o->path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    CHECK_OK(o->t, sotto_sqlite_number(db, &o->left, "SELECT count(*) FROM record WHERE kind=6",
                                       "record", &o->t->err));
    CHECK(o->t, sqlite3_close(db) == SQLITE_OK);
}

static void the_record_knows_what_leaves_before_it_does(sotto_test *t)
{
    onlooker o = {t, sotto_test_temp(t, "ledger.db"), sotto_test_temp(t, "copy.db"), 0};
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_LATER, .hook = look_on, .context = &o};
    sotto_ledger *ledger = sotto_test_ledger(t, o.path, NULL, &sotto_test_wide);

    pay(t, ledger, "a", 1);
    send(t, ledger, &wire);
    CHECK_EQUAL(t, 1, o.left);
    sotto_ledger_close(ledger);
}

static void a_spend_is_in_the_database_itself_before_its_report_leaves(sotto_test *t)
{
    onlooker o = {t, sotto_test_temp(t, "ledger.db"), sotto_test_temp(t, "copy.db"), 0};
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_LATER, .hook = look_on, .context = &o};
    sotto_ledger *ledger = sotto_test_ledger(t, o.path, NULL, &sotto_test_wide);
    sotto_spent spent;

    pay(t, ledger, "a", 1);
    send(t, ledger, &wire);
    sotto_ledger_close(ledger);
    ledger = sotto_test_ledger(t, o.copy, NULL, &sotto_test_wide); /* as if the WAL had been lost */
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    CHECK_OK(t, sotto_ledger_spent_by_analysis(ledger, &spent, SOTTO_TEST_ANALYSIS, NOW, &t->err));
    CHECK_EQUAL(t, 1, spent.reports);
    sotto_ledger_close(ledger);
}

static void meddle_and_send(sotto_test *t, const char *sql)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    const sotto_transport transport = sotto_test_transport(&wire);
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);

    pay(t, ledger, "a", 1);
    sotto_test_meddle(t, path, sql);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_outbox_send(ledger, &transport, NOW, NULL, &t->err));
    CHECK_EQUAL(t, 0, wire.calls);
    CHECK(t, sotto_ledger_closed(ledger) != NULL);
    sotto_ledger_close(ledger);
}

static void bytes_that_were_not_paid_for_do_not_leave(sotto_test *t)
{
    meddle_and_send(t, "UPDATE sealed SET bytes=x'00'");
    meddle_and_send(t, "UPDATE sealed SET inputs=x'00'");
    meddle_and_send(t, "DELETE FROM sealed");
}

static void a_report_without_a_spend_does_not_leave(sotto_test *t)
{
    meddle_and_send(t, "UPDATE outbox SET spend=999");
    meddle_and_send(t, "UPDATE outbox SET spend=0");
}

/* ---- dummies, withdrawal, record -------------------------------------------------------------------------- */

static void a_dummy_leaves_and_spends_nothing(sotto_test *t)
{
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);
    const sotto_report report = sotto_test_report(t, 7);
    const sotto_dummy dummy = {.recipe = "a", .analysis = ""};
    sotto_spent spent;

    CHECK_OK(t, sotto_outbox_put_dummy(ledger, &dummy, &report, NOW, &t->err));
    CHECK_STATUS(t, SOTTO_STALE, sotto_outbox_put_dummy(ledger, &dummy, &report, NOW, &t->err));
    CHECK_OK(t, sotto_ledger_spent_by_analysis(ledger, &spent, SOTTO_TEST_ANALYSIS, NOW, &t->err));
    CHECK_EQUAL(t, 0, spent.reports);
    send(t, ledger, &wire);
    CHECK_EQUAL(t, 1, wire.distinct);
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_DUMMY));
    sotto_ledger_close(ledger);
}

static void withdrawal_empties_the_outbox_and_keeps_the_ledger(sotto_test *t)
{
    static const char secret[] = "these are input shares that nobody needs to find again";
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    char name[SOTTO_VFS_PATH];
    sotto_spent spent;

    for (uint64_t i = 0; i < 60; i++) {
        char recipe[16];

        (void)snprintf(recipe, sizeof recipe, "r%d", (int)i);
        const sotto_charge charge = sotto_test_charge(t, recipe, "0.3");
        sotto_report report = sotto_test_report(t, i);
        report.inputs = sotto_bytes_of(secret, sizeof secret);
        CHECK_OK(t, sotto_ledger_spend(ledger, &charge, &report, NOW, NULL, &t->err));
        if (i % 3 == 0)
            CHECK_OK(t, sotto_outbox_empty(ledger, recipe, "the recipe closed", NOW, &t->err));
    }
    CHECK(t, sotto_test_file_holds(t, path, secret));
    CHECK_EQUAL(t, 40, waiting(t, ledger));
    CHECK_OK(t, sotto_outbox_empty(ledger, NULL, "withdrawn", NOW, &t->err));
    CHECK_EQUAL(t, 0, waiting(t, ledger));
    CHECK(t, !sotto_test_file_holds(t, path, secret));
    (void)snprintf(name, sizeof name, "%s-wal", path);
    CHECK(t, !sotto_test_file_holds(t, name, secret));
    send(t, ledger, &wire);
    CHECK_EQUAL(t, 0, wire.calls);
    CHECK_OK(t, sotto_ledger_spent_by_analysis(ledger, &spent, SOTTO_TEST_ANALYSIS, NOW, &t->err));
    CHECK_EQUAL(t, 60, spent.reports);
    CHECK_EQUAL(t, 60, sotto_test_recorded(t, ledger, SOTTO_RECORD_GIVEN_UP));
    sotto_ledger_close(ledger);
    ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    CHECK(t, sotto_ledger_closed(ledger) == NULL);
    sotto_ledger_close(ledger);
}

enum { MARKED = 150 };

static bool goes(int row)
{
    return row % 3 != 1;
}

static void put_marked(sotto_test *t, sotto_ledger *ledger, int row)
{
    char recipe[16], inputs[512];
    sotto_report report = sotto_test_report(t, (uint64_t)row);

    (void)snprintf(recipe, sizeof recipe, "r%d", row);
    (void)snprintf(inputs, sizeof inputs, "<m%05d>%*s", row, 1 + row * 97 % 480, "");
    const sotto_charge charge = sotto_test_charge(t, recipe, "0.3");
    report.bytes.len = 40;
    report.randomised.len = 0;
    report.inputs = sotto_bytes_of(inputs, strlen(inputs));
    CHECK_OK(t, sotto_ledger_spend(ledger, &charge, &report, NOW, NULL, &t->err));
}

static void emptying_leaves_no_stale_copy_among_what_still_waits(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    int stale = 0, kept = 0;

    for (int i = 0; i < MARKED; i++)
        put_marked(t, ledger, i);
    for (int i = 0; i < MARKED; i++) {
        char recipe[16];
        int row = i * 67 % MARKED;

        (void)snprintf(recipe, sizeof recipe, "r%d", row);
        if (goes(row))
            CHECK_OK(t, sotto_outbox_empty(ledger, recipe, "the recipe closed", NOW, &t->err));
    }
    sotto_ledger_close(ledger);
    sotto_bytes file = sotto_test_read_file(t, path);
    for (size_t i = 0; i + 8 <= file.len; i++) {
        int row;

        if (memcmp(file.data + i, "<m", 2) != 0 ||
            sscanf((const char *)file.data + i, "<m%5d>", &row) != 1)
            continue;
        stale += goes(row);
        kept++;
    }
    CHECK_EQUAL(t, MARKED / 3, kept);
    CHECK_EQUAL(t, 0, stale);
}

static void acknowledged_shares_are_erased(sotto_test *t)
{
    static const char secret[] = "these are input shares that nobody needs to find again";
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_test_wire wire = {.answer = SOTTO_DELIVERY_ACCEPTED};
    sotto_ledger *ledger = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    const sotto_charge charge = sotto_test_charge(t, "a", "0.3");
    sotto_report report = sotto_test_report(t, 1);
    char name[SOTTO_VFS_PATH];

    report.inputs = sotto_bytes_of(secret, sizeof secret);
    CHECK_OK(t, sotto_ledger_spend(ledger, &charge, &report, NOW, NULL, &t->err));
    send(t, ledger, &wire);
    (void)snprintf(name, sizeof name, "%s-wal", path);
    CHECK(t, !sotto_test_file_holds(t, path, secret) && !sotto_test_file_holds(t, name, secret));
    sotto_ledger_close(ledger);
}

static sotto_status check_entry(void *context, const sotto_record_entry *entry, sotto_err *err)
{
    sotto_test *t = context;

    (void)err;
    if (entry->kind != SOTTO_RECORD_SPENT)
        return SOTTO_OK;
    CHECK(t, strcmp(entry->recipe, "a") == 0 && strcmp(entry->analysis, SOTTO_TEST_ANALYSIS) == 0);
    CHECK(t, strcmp(entry->fields, "keyboard_ngrams.age keyboard_ngrams.ngram") == 0);
    CHECK_EQUAL(t, 300000000000, entry->epsilon.units);
    CHECK_EQUAL(t, 2000000000000, entry->local.units);
    CHECK_EQUAL(t, 300, entry->bytes);
    CHECK_EQUAL(t, 34, entry->randomised.len);
    return SOTTO_AGAIN; /* ends the showing */
}

static void the_record_says_what_left(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);
    const sotto_record_entry seen = {.at = NOW, .kind = SOTTO_RECORD_SEEN, .recipe = "a"};
    const sotto_record_entry silent = {
        .at = NOW, .kind = SOTTO_RECORD_SILENT, .recipe = "b", .note = "not eligible"};
    const sotto_record_entry forged = {.at = NOW, .kind = SOTTO_RECORD_SPENT, .recipe = "b"};

    CHECK_OK(t, sotto_record_append(ledger, &seen, &t->err));
    CHECK_OK(t, sotto_record_append(ledger, &silent, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_record_append(ledger, &forged, &t->err));
    pay(t, ledger, "a", 1);
    CHECK_STATUS(t, SOTTO_AGAIN, sotto_record_show(ledger, "a", 0, check_entry, t, &t->err));
    CHECK_OK(t, sotto_record_show(ledger, "b", 0, check_entry, t, &t->err));
    CHECK_OK(t, sotto_record_show(ledger, NULL, 4, check_entry, t, &t->err));
    for (int kind = SOTTO_RECORD_SEEN; kind <= SOTTO_RECORD_FORGOTTEN; kind++)
        CHECK(t, sotto_record_kind_name((sotto_record_kind)kind) != NULL);
    CHECK(t, sotto_record_kind_name(0) == NULL);
    sotto_ledger_close(ledger);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_report_leaves_as_it_was_paid_for),
        CASE(a_retry_sends_the_same_bytes),
        CASE(an_outdated_key_is_replaced_once_around_the_same_shares),
        CASE(an_outdated_report_waits_while_no_new_key_is_known),
        CASE(no_byte_leaves_before_every_witness_knows),
        CASE(the_record_knows_what_leaves_before_it_does),
        CASE(a_spend_is_in_the_database_itself_before_its_report_leaves),
        CASE(bytes_that_were_not_paid_for_do_not_leave),
        CASE(a_report_without_a_spend_does_not_leave),
        CASE(a_dummy_leaves_and_spends_nothing),
        CASE(withdrawal_empties_the_outbox_and_keeps_the_ledger),
        CASE(emptying_leaves_no_stale_copy_among_what_still_waits),
        CASE(acknowledged_shares_are_erased),
        CASE(the_record_says_what_left),
    };
    return RUN_TESTS(argc, argv, cases);
}
