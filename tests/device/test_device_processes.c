/* Real processes of one device over the same files, all at once: what is to be done once is done once, and a no is the
 * last word. test_device_two.c has the moments one by one. */
#define _POSIX_C_SOURCE 200809L

#include "crypto/hash.h"
#include "support/devices.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sotto_test_phone one;

enum { PROCESSES = 3, RECIPES = 6, TRIES = 60 };

typedef struct sent {
    char recipe[16];
    uint8_t id[SOTTO_REPORT_ID_SIZE];
    uint8_t body[32]; /* its digest */
} sent;

static int wire[2];
static bool each_says_yes;

static sotto_status write_down(void *context, sotto_exchange *exchange)
{
    uint8_t body[16384];
    size_t len;
    sent s = {{0}, {0}, {0}};

    (void)context;
    SOTTO_TRY(exchange->read(exchange, 0, body, sizeof body, &len));
    (void)snprintf(s.recipe, sizeof s.recipe, "%s", exchange->recipe);
    memcpy(s.id, body, sizeof s.id);
    sotto_hash_once(s.body, SOTTO_SHA256, sotto_bytes_of(body, len));
    if (write(wire[1], &s, sizeof s) != (ssize_t)sizeof s)
        return SOTTO_IO;
    return sotto_test_answer(exchange, SOTTO_DELIVERY_ACCEPTED, body);
}

/* Whichever is second may have to retry; nothing else may come of it. */
static bool again(sotto_status status)
{
    return status == SOTTO_IO || status == SOTTO_AGAIN;
}

static bool answer_all(sotto_test *t, const sotto_bytes *recipes)
{
    const sotto_conditions good = {true, true, true};
    sotto_status status = SOTTO_IO;
    sotto_tick tick = {0};

    for (int i = 0; again(status) && i < TRIES; i++)
        status = sotto_device_open(&one.device, &one.options, NULL);
    if (status != SOTTO_OK || sotto_device_closed(one.device))
        return false;
    status = sotto_device_describe(one.device, "locale", "en_US", NULL);
    for (int i = 0; status == SOTTO_OK && i < RECIPES; i++) {
        for (int tries = 0; tries < TRIES; tries++) {
            status = each_says_yes ? sotto_device_consent(one.device, true, NULL) : SOTTO_OK;
            if (status == SOTTO_OK)
                status = sotto_device_offer(one.device, recipes[i], NULL);
            if (status == SOTTO_OK)
                status = sotto_test_phone_type(&one, (uint64_t)i, 35, "i went home");
            if (status == SOTTO_OK)
                status = sotto_device_tick(one.device, &tick, good, NULL);
            if (!again(status))
                break;
        }
    }
    (void)t;
    sotto_test_phone_close(&one);
    return status == SOTTO_OK;
}

static void run_process(sotto_test *t, const int start[2], const sotto_bytes *recipes)
{
    char byte;

    (void)close(start[1]);
    (void)close(wire[0]);
    if (read(start[0], &byte, 1) != 0) /* ends for all of them at the same moment */
        _exit(2);
    _exit(answer_all(t, recipes) ? 0 : 1);
}

/* Every recipe in one report, always with the same bytes. */
static void check_sent(sotto_test *t, const sent *all, size_t count)
{
    bool seen[RECIPES] = {0};

    for (size_t i = 0; i < count; i++) {
        seen[all[i].recipe[0] - 'a'] = true;
        for (size_t j = 0; j < i; j++)
            CHECK(t, (memcmp(all[i].id, all[j].id, sizeof all[i].id) == 0) ==
                         (strcmp(all[i].recipe, all[j].recipe) == 0));
        for (size_t j = 0; j < i; j++)
            CHECK(t, strcmp(all[i].recipe, all[j].recipe) != 0 ||
                         memcmp(all[i].body, all[j].body, sizeof all[i].body) == 0);
    }
    for (size_t i = 0; i < RECIPES; i++)
        CHECK(t, seen[i]);
}

static void start_all(sotto_test *t, pid_t processes[PROCESSES], const sotto_bytes *recipes)
{
    int start[2];

    CHECK(t, pipe(start) == 0 && pipe(wire) == 0);
    for (int i = 0; i < PROCESSES; i++) {
        processes[i] = fork();
        CHECK(t, processes[i] >= 0);
        if (processes[i] == 0)
            run_process(t, start, recipes);
    }
    (void)close(start[0]);
    (void)close(start[1]);
    (void)close(wire[1]);
}

static size_t read_sent(sent *all, size_t most)
{
    size_t count = 0;

    while (count < most && read(wire[0], &all[count], sizeof *all) == (ssize_t)sizeof *all)
        count++;
    return count;
}

static void end_all(sotto_test *t, const pid_t processes[PROCESSES])
{
    int status;

    (void)close(wire[0]);
    for (int i = 0; i < PROCESSES; i++) {
        CHECK(t, waitpid(processes[i], &status, 0) == processes[i]);
        CHECK(t, WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static sent all_sent[PROCESSES * RECIPES * TRIES];
static const size_t most_sent = sizeof all_sent / sizeof all_sent[0];

static void plan(sotto_test *t, sotto_bytes recipes[RECIPES])
{
    for (int i = 0; i < RECIPES; i++) {
        const char name[] = {(char)('a' + i), 0};

        recipes[i] = sotto_test_sure_recipe(t, name, NULL, NULL);
    }
}

static void name_files(sotto_test *t)
{
    sotto_test_phone_init(t, &one, sotto_test_generous_policy);
    sotto_test_phone_in_files(&one);
    one.options.host.exchange = write_down;
    one.options.host.counter = (sotto_device_counter){NULL, NULL}; /* theirs would not be one */
}

static void processes_that_start_and_tick_at_once_answer_once(sotto_test *t)
{
    sotto_bytes recipes[RECIPES];
    pid_t processes[PROCESSES];

    plan(t, recipes);
    each_says_yes = true;
    for (int round = 0; round < 4; round++) {
        name_files(t);
        start_all(t, processes, recipes);
        size_t count = read_sent(all_sent, most_sent);
        end_all(t, processes);
        check_sent(t, all_sent, count);
        sotto_test_phone_open(&one);
        CHECK(t, sotto_device_closed(one.device) == NULL);
        CHECK_EQUAL(t, RECIPES, sotto_test_charged(&one));
        CHECK_EQUAL(t, RECIPES, sotto_test_lines(&one, NULL, SOTTO_RECORD_SPENT));
        CHECK_EQUAL(t, RECIPES, sotto_test_lines(&one, NULL, SOTTO_RECORD_LEFT));
        CHECK_EQUAL(t, RECIPES, sotto_test_lines(&one, NULL, SOTTO_RECORD_ACKNOWLEDGED));
        CHECK_EQUAL(t, 1, sotto_test_lines(&one, NULL, SOTTO_RECORD_CONSENTED));
        sotto_test_phone_close(&one);
    }
}

typedef struct after_a_no {
    bool said;
    uint64_t done; /* what should not have been done any more */
} after_a_no;

static sotto_status look_for_more(void *context, const sotto_record_line *line, sotto_err *err)
{
    after_a_no *a = context;

    (void)err;
    a->said = a->said || line->kind == SOTTO_RECORD_WITHDRAWN;
    a->done += a->said && (line->kind == SOTTO_RECORD_DECIDED || line->kind == SOTTO_RECORD_SPENT ||
                           line->kind == SOTTO_RECORD_LEFT);
    return SOTTO_OK;
}

static void a_no_among_busy_processes_is_the_last_word(sotto_test *t)
{
    sotto_bytes recipes[RECIPES];
    pid_t processes[PROCESSES];

    plan(t, recipes);
    each_says_yes = false;
    for (int round = 0; round < 6; round++) {
        after_a_no found = {false, 0};

        name_files(t);
        sotto_test_phone_open(&one);
        CHECK_OK(t, sotto_device_consent(one.device, true, &t->err));
        sotto_test_phone_close(&one); /* no connection goes along when a process forks */
        start_all(t, processes, recipes);
        CHECK_EQUAL(t, 1, read_sent(all_sent, 1)); /* now they are at it */
        sotto_test_phone_open(&one);
        sotto_status status = SOTTO_IO;
        for (int i = 0; again(status) && i < TRIES; i++)
            status = sotto_device_consent(one.device, false, NULL);
        CHECK_STATUS(t, SOTTO_OK, status);
        (void)read_sent(all_sent, most_sent);
        end_all(t, processes);
        CHECK_OK(t, sotto_device_record(one.device, NULL, 0, look_for_more, &found, &t->err));
        CHECK(t, found.said);
        CHECK_EQUAL(t, 0, found.done);
        CHECK_EQUAL(t, 0, sotto_test_tick(&one).waiting);
        sotto_test_phone_close(&one);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(processes_that_start_and_tick_at_once_answer_once),
        CASE(a_no_among_busy_processes_is_the_last_word),
    };

    return RUN_TESTS(argc, argv, cases);
}
