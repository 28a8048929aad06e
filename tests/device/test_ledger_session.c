/* A session of learning in the ledger: charged before any coin, once a period, found again by later policies, and never undone. */
#define _DEFAULT_SOURCE

#include "device/ledger/session.h"
#include "sim/random.h"
#include "support/ledger.h"
#include "support/powerloss_vfs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOW SOTTO_TEST_NOW
#define DAY 86400
#define ONE UINT64_C(1000000000000)

enum { TURNS = 3 };

static const uint8_t hash[SOTTO_ASKED_DIGEST] = {7};
static const sotto_access age = {"keyboard_ngrams", "age", true},
                          ngram = {"keyboard_ngrams", "ngram", true};

/* One recipe of three participations, whose rounds cost 0.1 together where nobody sees who takes part, and 0.3 otherwise. */
static sotto_round_charge turn(uint64_t round, bool session)
{
    return (sotto_round_charge){.hash = hash,
                                .recipe = "digits",
                                .round = round,
                                .participations = TURNS,
                                .separation = 1,
                                .opens = NOW - DAY,
                                .rho = {ONE / 8},
                                .epsilon = session ? 0.099 : 0.29,
                                .honest = 20000,
                                .session = session};
}

static sotto_charge charge_of(sotto_test *t, uint64_t round, bool session)
{
    char *name = sotto_arena_take(&t->arena, 32);
    sotto_charge charge;

    CHECK(t, name != NULL);
    (void)snprintf(name, 32, "digits#%llu", (unsigned long long)round);
    charge = sotto_test_charge(t, name, session ? "0.1" : "0.3");
    charge.round = round;
    return charge;
}

static sotto_status open_session(sotto_test *t, sotto_ledger *ledger, int64_t now)
{
    const sotto_charge charge = charge_of(t, 0, true);
    const sotto_round_charge round = turn(0, true);
    sotto_refusal refusal;

    return sotto_session_spend(ledger, &charge, &round, now, &refusal, &t->err);
}

static sotto_status update(sotto_test *t, sotto_ledger *ledger, uint64_t round, bool session,
                           int64_t now)
{
    const sotto_charge charge = charge_of(t, round, session);
    const sotto_round_charge r = turn(round, session);
    const sotto_report report = sotto_test_report(t, round + 1);
    sotto_refusal refusal;

    return sotto_ledger_spend_round(ledger, &charge, &r, &report, now, &refusal, &t->err);
}

/* What analysis and both fields have spent alike. */
static void check_spent(sotto_test *t, sotto_ledger *ledger, uint64_t tenths, uint64_t reports,
                        int64_t now)
{
    const sotto_access *const fields[] = {&age, &ngram};
    sotto_spent spent = sotto_test_spent(t, ledger, now);

    CHECK_EQUAL(t, ONE / 10 * tenths, spent.epsilon.units);
    CHECK_EQUAL(t, reports, spent.reports);
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &spent, fields[i], now, &t->err));
        CHECK_EQUAL(t, ONE / 10 * tenths, spent.epsilon.units);
        CHECK_EQUAL(t, reports, spent.reports);
    }
}

typedef struct lines {
    double rho, session; /* of the last recipe */
    double all;          /* of the analysis    */
    uint64_t updates, charged;
} lines;

static sotto_status look(void *context, const sotto_rho_line *line, sotto_err *err)
{
    lines *l = context;

    (void)err;
    if (line->account == SOTTO_RHO_RECIPE) {
        l->rho = line->rho;
        l->updates += line->participations;
    }
    if (line->account == SOTTO_RHO_ANALYSIS)
        l->all = line->rho;
    if (line->account == SOTTO_RHO_SESSION && strcmp(line->name, "digits") == 0) {
        l->session = line->epsilon;
        l->charged += line->participations;
    }
    return SOTTO_OK;
}

static lines lines_of(sotto_test *t, sotto_ledger *ledger)
{
    lines l = {0};

    CHECK_OK(t, sotto_ledger_rho(ledger, look, &l, &t->err));
    return l;
}

static sotto_status draw(void *context, sotto_decision *out, sotto_err *err)
{
    (void)context;
    (void)err;
    out->choice = SOTTO_CHOICE_SILENT;
    return SOTTO_OK;
}

static bool may(sotto_test *t, sotto_ledger *ledger)
{
    const sotto_round_charge round = turn(0, true);
    bool is;

    CHECK_OK(t, sotto_session_may(ledger, &is, &round, &t->err));
    return is;
}

/* ---- what it costs --------------------------------------------------------------------------------------------- */

static void a_session_is_charged_once_and_its_updates_cost_nothing(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);

    CHECK_OK(t, open_session(t, ledger, NOW));
    check_spent(t, ledger, 1, TURNS, NOW);
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_SESSION));
    CHECK_OK(t, open_session(t, ledger, NOW + 60));
    check_spent(t, ledger, 1, TURNS, NOW);
    for (uint64_t round = 0; round < TURNS; round++) {
        CHECK_OK(t, update(t, ledger, round, true, NOW + 60));
        check_spent(t, ledger, 1, TURNS, NOW);
        const lines l = lines_of(t, ledger);
        CHECK_NEAR(t, (double)(round + 1) / 8, l.rho, 1e-9);
        CHECK(t, l.updates == round + 1 && l.charged == 1);
        CHECK_NEAR(t, 0.1, l.session, 1e-12);
    }
    CHECK_STATUS(t, SOTTO_DENIED, update(t, ledger, TURNS, true, NOW + 60));
    CHECK_EQUAL(t, 1, sotto_test_recorded(t, ledger, SOTTO_RECORD_SESSION));
    sotto_ledger_close(ledger);
}

static void no_update_leaves_before_its_session_is_paid(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);

    CHECK_STATUS(t, SOTTO_BUG, update(t, ledger, 0, true, NOW));
    check_spent(t, ledger, 0, 0, NOW);
    CHECK_EQUAL(t, 0, lines_of(t, ledger).updates);
    sotto_ledger_close(ledger);
}

/* Table 1 allows one report. */
static void a_session_needs_room_for_all_its_reports(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_table1);
    const sotto_charge charge = charge_of(t, 0, true);
    sotto_round_charge round = turn(0, true);
    sotto_refusal refusal;

    CHECK_STATUS(t, SOTTO_DENIED, open_session(t, ledger, NOW));
    CHECK_EQUAL(t, 0, sotto_test_spent(t, ledger, NOW).epsilon.units);
    round.participations = 1;
    CHECK_OK(t, sotto_session_check(ledger, &charge, &round, NOW, &refusal, &t->err));
    round.honest = 30000; /* more than the policy takes for honest */
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_session_check(ledger, &charge, &round, NOW, &refusal, &t->err));
    round.honest = 20000;
    round.epsilon = 0.11; /* above what is charged */
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_session_check(ledger, &charge, &round, NOW, &refusal, &t->err));
    CHECK_EQUAL(t, 3, refusal.check);
    sotto_ledger_close(ledger);
}

static void each_period_pays_the_session_again(sotto_test *t)
{
    sotto_budget_table table = sotto_test_wide;

    table.period = DAY;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &table);
    CHECK_OK(t, open_session(t, ledger, NOW));
    CHECK_OK(t, update(t, ledger, 0, true, NOW));
    CHECK_STATUS(t, SOTTO_BUG, update(t, ledger, 1, true, NOW + 2 * DAY));
    check_spent(t, ledger, 0, 0, NOW + 2 * DAY);
    CHECK_OK(t, open_session(t, ledger, NOW + 2 * DAY));
    check_spent(t, ledger, 1, TURNS, NOW + 2 * DAY);
    CHECK_OK(t, update(t, ledger, 1, true, NOW + 2 * DAY));
    CHECK_EQUAL(t, 2, lines_of(t, ledger).charged);
    CHECK_EQUAL(t, 2, lines_of(t, ledger).updates);
    sotto_ledger_close(ledger);
}

/* ---- coins ------------------------------------------------------------------------------------------------------ */

/* Whether the theorem may be used must not follow from a coin: one that was tossed unpaid decides for zCDP, whatever it said. */
static void no_session_begins_after_a_coin_was_tossed(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);
    sotto_decision decision;

    CHECK(t, may(t, ledger));
    CHECK_OK(t, sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_RECIPE, "digits-2#0", draw,
                                    NULL, NOW, &t->err));
    CHECK(t, may(t, ledger)); /* of another recipe */
    CHECK_OK(t, sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_RECIPE, "digits#0", draw,
                                    NULL, NOW, &t->err));
    CHECK(t, !may(t, ledger));
    sotto_ledger_close(ledger);
    ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);
    CHECK_OK(t, open_session(t, ledger, NOW));
    CHECK_OK(t, sotto_ledger_decide(ledger, &decision, SOTTO_DECISION_RECIPE, "digits#0", draw,
                                    NULL, NOW, &t->err));
    CHECK(t, may(t, ledger));
    sotto_ledger_close(ledger);
}

/* ---- later policies --------------------------------------------------------------------------------------------- */

static void a_policy_that_does_not_count_on_hiding_pays_by_zcdp(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);

    CHECK_OK(t, open_session(t, ledger, NOW));
    CHECK_OK(t, update(t, ledger, 0, true, NOW));
    CHECK_OK(t, update(t, ledger, 1, false, NOW));
    check_spent(t, ledger, 4, TURNS + 1, NOW);
    CHECK_OK(t, update(t, ledger, 2, false, NOW));
    check_spent(t, ledger, 4, TURNS + 2, NOW);
    CHECK(t, !may(t, ledger)); /* and it stays so */
    CHECK_EQUAL(t, TURNS, lines_of(t, ledger).updates);
    sotto_ledger_close(ledger);
}

static void a_field_that_became_sensitive_pays_for_the_session(sotto_test *t)
{
    const sotto_access before[] = {age, {"keyboard_ngrams", "ngram", false}};
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);
    sotto_charge charge = charge_of(t, 0, true);
    const sotto_round_charge round = turn(0, true);
    sotto_refusal refusal;
    sotto_spent spent;

    charge.fields = before;
    CHECK_OK(t, sotto_session_spend(ledger, &charge, &round, NOW, &refusal, &t->err));
    CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &spent, &ngram, NOW, &t->err));
    CHECK_EQUAL(t, 0, spent.epsilon.units);
    CHECK_STATUS(t, SOTTO_BUG, update(t, ledger, 0, true, NOW));
    CHECK_OK(t, open_session(t, ledger, NOW));
    check_spent(t, ledger, 1, TURNS, NOW); /* and the others not twice */
    CHECK_OK(t, update(t, ledger, 0, true, NOW));
    sotto_ledger_close(ledger);
}

/* The epsilon of a session follows from the policy's honest part. */
static void a_policy_that_makes_the_session_dearer_pays_again(sotto_test *t)
{
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);
    sotto_charge charge = charge_of(t, 0, true);
    const sotto_round_charge round = turn(0, true);
    sotto_refusal refusal;

    CHECK_OK(t, open_session(t, ledger, NOW));
    charge.epsilon.units = ONE / 5;
    CHECK_OK(t, sotto_session_spend(ledger, &charge, &round, NOW, &refusal, &t->err));
    check_spent(t, ledger, 3, 2 * TURNS, NOW);
    CHECK_OK(t, open_session(t, ledger, NOW)); /* the cheaper one is covered */
    check_spent(t, ledger, 3, 2 * TURNS, NOW);
    sotto_ledger_close(ledger);
}

/* A period that changes makes old rows young: whether the account still has the charge is not known then. */
static void a_policy_with_another_period_pays_again(sotto_test *t)
{
    sotto_budget_table days = sotto_test_wide, weeks = sotto_test_wide;

    days.period = DAY;
    weeks.period = 7 * DAY;
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &days);
    CHECK_OK(t, open_session(t, ledger, NOW));
    /* On a later day others spend, and the account begins anew. */
    CHECK_OK(t, update(t, ledger, 9, false, NOW + 3 * DAY));
    CHECK_EQUAL(t, ONE / 10 * 3, sotto_test_spent(t, ledger, NOW + 3 * DAY).epsilon.units);
    CHECK_OK(t, sotto_ledger_adopt(ledger, &weeks, &sotto_test_recompute, NOW + 3 * DAY, &t->err));
    CHECK_OK(t, open_session(t, ledger, NOW + 3 * DAY));
    CHECK_EQUAL(t, ONE / 10 * 4, sotto_test_spent(t, ledger, NOW + 3 * DAY).epsilon.units);
    sotto_ledger_close(ledger);
}

/* ---- what goes wrong -------------------------------------------------------------------------------------------- */

static void a_ledger_in_a_file_finds_its_session_again(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    sotto_ledger *one = sotto_test_ledger(t, path, NULL, &sotto_test_wide),
                 *two = sotto_test_ledger(t, path, NULL, &sotto_test_wide);

    CHECK_OK(t, open_session(t, one, NOW));
    CHECK_OK(t, open_session(t, two, NOW)); /* another process finds it paid */
    check_spent(t, two, 1, TURNS, NOW);
    sotto_ledger_close(one);
    sotto_ledger_close(two);
    one = sotto_test_ledger(t, path, NULL, &sotto_test_wide);
    CHECK(t, may(t, one));
    CHECK_OK(t, update(t, one, 0, true, NOW));
    check_spent(t, one, 1, TURNS, NOW);
    sotto_ledger_close(one);
}

/* All accounts have it, or none. */
static void no_power_loss_leaves_a_session_half_paid(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "ledger.db");
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    bool reached = true;
    int64_t tried = 0;

    for (int64_t at = 1; reached && at < 400; at++) {
        sotto_test_host host = {0};
        sotto_ledger *ledger;
        char name[SOTTO_VFS_PATH];
        bool paid;

        for (size_t i = 0; i < 4; i++) {
            (void)snprintf(name, sizeof name, "%s%s", path, endings[i]);
            (void)unlink(name);
        }
        sotto_powerloss_start();
        CHECK_OK(t, sotto_test_open_ledger(&ledger, &sotto_powerloss_storage, path, &host,
                                           &sotto_test_wide, &t->err));
        const int64_t before = (int64_t)sotto_powerloss_steps();
        sotto_powerloss_at(before + at);
        paid = open_session(t, ledger, NOW) == SOTTO_OK;
        sotto_err_clear(&t->err);
        reached = (int64_t)sotto_powerloss_steps() > before + at;
        sotto_ledger_close(ledger);
        sotto_powerloss_restore((uint64_t)at % 3);
        CHECK_OK(t, sotto_test_open_ledger(&ledger, &sotto_powerloss_storage, path, &host,
                                           &sotto_test_wide, &t->err));
        const bool kept = lines_of(t, ledger).charged > 0;
        CHECK(t, kept || !paid);
        check_spent(t, ledger, kept, kept ? TURNS : 0, NOW);
        sotto_ledger_close(ledger);
        tried++;
    }
    CHECK(t, !reached && tried > 3);
}

/* ---- nothing is undone ------------------------------------------------------------------------------------------ */

/* Of four texts of the recipe, charged either way in any order. */
static sotto_status step(sotto_test *t, sotto_ledger *ledger, sotto_sim_random *random,
                         uint64_t round)
{
    uint8_t text[SOTTO_ASKED_DIGEST] = {(uint8_t)(8 + sotto_sim_random_below(random, 4))};
    const bool session = sotto_sim_random_below(random, 2) == 0;
    const uint64_t what = sotto_sim_random_below(random, 6);
    sotto_charge charge = charge_of(t, round, session);
    sotto_round_charge r = turn(round, session);
    const sotto_report report = sotto_test_report(t, round + 1);
    const int64_t now = NOW + (int64_t)round;
    sotto_refusal refusal;

    r.hash = text;
    r.participations = 12;
    if (what == 0) {
        r.session = true;
        r.epsilon = 0.009;
        charge.epsilon.units = ONE / 100 * (1 + sotto_sim_random_below(random, 3));
        return sotto_session_spend(ledger, &charge, &r, now, &refusal, NULL);
    }
    if (what == 1)
        return sotto_ledger_spend(ledger, &charge, &report, now, &refusal, NULL);
    return sotto_ledger_spend_round(ledger, &charge, &r, &report, now, &refusal, NULL);
}

static bool no_less(const sotto_spent *now, const sotto_spent *before)
{
    return now->epsilon.units >= before->epsilon.units && now->delta.units >= before->delta.units &&
           now->squares >= before->squares && now->reports >= before->reports;
}

/* Sums that a person may rely on: within a period none becomes less, and zCDP never does. */
static void no_account_ever_goes_down(sotto_test *t)
{
    enum { STEPS = 300, LEAST = 40 };
    sotto_ledger *ledger = sotto_test_ledger(t, NULL, NULL, &sotto_test_wide);
    sotto_spent analysis = {0}, field = {0};
    sotto_sim_random random;
    lines were = {0};
    uint64_t went = 0;

    sotto_sim_random_init(&random, 20261118);
    for (uint64_t i = 0; i < STEPS; i++) {
        went += step(t, ledger, &random, i) == SOTTO_OK;
        const sotto_spent all = sotto_test_spent(t, ledger, NOW);
        sotto_spent one;
        CHECK_OK(t, sotto_ledger_spent_on_field(ledger, &one, &age, NOW, &t->err));
        const lines l = lines_of(t, ledger);
        CHECK(t, no_less(&all, &analysis) && no_less(&one, &field));
        CHECK(t, l.all >= were.all && l.updates >= were.updates && l.charged >= were.charged);
        analysis = all;
        field = one;
        were = l;
    }
    CHECK(t, went > LEAST && were.charged > 4 && were.updates > 12);
    sotto_ledger_close(ledger);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_session_is_charged_once_and_its_updates_cost_nothing),
        CASE(no_update_leaves_before_its_session_is_paid),
        CASE(a_session_needs_room_for_all_its_reports),
        CASE(each_period_pays_the_session_again),
        CASE(no_session_begins_after_a_coin_was_tossed),
        CASE(a_policy_that_does_not_count_on_hiding_pays_by_zcdp),
        CASE(a_field_that_became_sensitive_pays_for_the_session),
        CASE(a_policy_that_makes_the_session_dearer_pays_again),
        CASE(a_policy_with_another_period_pays_again),
        CASE(a_ledger_in_a_file_finds_its_session_again),
        CASE(no_power_loss_leaves_a_session_half_paid),
        CASE(no_account_ever_goes_down),
    };
    return RUN_TESTS(argc, argv, cases);
}
