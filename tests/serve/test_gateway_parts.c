/* What a gateway is made of: its memory for replays, its table of targets and its options. */
#define _POSIX_C_SOURCE 200809L
#include "serve/gateway/replays.h"
#include "serve/host/options.h"
#include "support/attested.h"
#include "support/database.h"
#include "support/oblivious.h"

#include <stdio.h>
#include <string.h>

static sotto_status note(sotto_replays *r, uint32_t name, int64_t wall, int64_t passed)
{
    return sotto_replays_note(r, sotto_bytes_of(&name, 4), (sotto_replays_time){wall, passed},
                              NULL);
}

/* Set ahead by a day, and back again: by neither clock two windows have passed. */
static void a_clock_that_jumps_forgets_nothing(sotto_test *t)
{
    sotto_replays *r;

    CHECK_OK(t, sotto_replays_new(&r, 100, 60, &t->err));
    CHECK_OK(t, note(r, 7, 1000000, 500));
    CHECK_STATUS(t, SOTTO_STALE, note(r, 7, 1086400, 501));
    CHECK_STATUS(t, SOTTO_STALE, note(r, 7, 1000002, 502));
    CHECK_STATUS(t, SOTTO_STALE, note(r, 7, 1000003, 5000));
    CHECK_STATUS(t, SOTTO_STALE, note(r, 7, 913600, 90000));
    CHECK_OK(t, note(r, 7, 1000000 + 240, 90001));
    sotto_replays_free(r);
}

static void replays_are_remembered_for_two_windows(sotto_test *t)
{
    sotto_replays *r;

    CHECK_OK(t, sotto_replays_new(&r, 100000, 60, &t->err));
    for (uint32_t i = 0; i < 5000; i++)
        CHECK_OK(t, note(r, i, 1000, 1000));
    for (uint32_t i = 0; i < 5000; i++)
        CHECK_STATUS(t, SOTTO_STALE, note(r, i, 1119, 1119));
    CHECK_EQUAL(t, 5000, sotto_replays_count(r));
    CHECK_STATUS(t, SOTTO_STALE, note(r, 7, 1120, 1120));
    CHECK_OK(t, note(r, 7, 1360, 1360));
    CHECK_EQUAL(t, 1, sotto_replays_count(r));
    sotto_replays_free(r);
}

static void tables_with_mistakes_are_refused(sotto_test *t)
{
    static const struct {
        const char *table, *reason;
    } mistakes[] = {
        {"", "it has no row"},
        {"https://a.example/\n", "line 1: not a name and a URL"},
        {"https://a.example/ http://127.0.0.1/ more\n", "line 1: not a name and a URL"},
        {"# x\nhttps://a/ http://127.0.0.1/\nhttps://a/ http://127.0.0.1/\n", "line 3: this name"},
        {"https://a.example/ http://192.0.2.1/\n", "line 1"},
        {"https://a.example/ ftp://127.0.0.1/\n", "line 1"},
        {"https://a.example http://127.0.0.1/\n", "not a URL that ends with a slash"},
        {"leader/ http://127.0.0.1/\n", "not a URL that ends with a slash"},
        {"https://a.example/?a=/ http://127.0.0.1/\n", "not a URL that ends with a slash"},
        {"https://a.example/ http://127.0.0.1\n", "where it is does not end with a slash"},
        {"https://a.example/ http://127.0.0.1:87\n", "where it is does not end with a slash"},
        {"https://a.example/ http://127.0.0.1/dap\n", "where it is does not end with a slash"},
        {"https://a.example/ http://127.0.0.1/?to=/\n", "where it is does not end with a slash"},
        {"https://a.example/ http://127.0.0.1/#/\n", "where it is does not end with a slash"},
    };
    const char *directory = sotto_test_directory(t);
    sotto_host *host = NULL;

    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "a gateway has an SQLite file");
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        sotto_err err;

        t->err = (sotto_err){0};
        CHECK(t, sotto_test_host_open(t, &host, directory, "gateway", mistakes[i].table, "", NULL,
                                      (sotto_log_sink){0}) != SOTTO_OK);
        err = t->err;
        CHECK(t, strstr(err.reason, mistakes[i].reason) != NULL);
    }
}

/* A device takes answers of 8,192 bytes, and no longer ones. */
static void answers_fit_a_device(sotto_test *t)
{
    static const char *const pads[] = {"4K", "5K", "1M"};
    char path[400];

    (void)snprintf(path, sizeof path, "%s/gateway.ini", sotto_test_directory(t));
    for (size_t i = 0; i < 3; i++) {
        sotto_serve_config config = {0};
        FILE *file = fopen(path, "w");

        CHECK(t, file && fprintf(file, "[gateway]\nanswer_pad = %s\n", pads[i]) > 0);
        CHECK_EQUAL(t, 0, fclose(file));
        const sotto_status status =
            sotto_serve_config_read(&config, &(sotto_config_sources){.file = path}, NULL);
        CHECK_EQUAL(t, i == 0, status == SOTTO_OK);
        sotto_serve_config_clear(&config);
    }
}

/* The issuer behind it sees the gateway's address, and nothing of who asks. */
static void an_issuer_s_list_comes_through_a_gateway(sotto_test *t)
{
    static const char date[] = "Fri, 15 Jan 2027 08:00:00 GMT"; /* where the clock stands */
    uint8_t lines[64];
    sotto_buf fields = sotto_buf_over(lines, sizeof lines);
    sotto_writer w = sotto_writer_on(&fields);
    sotto_bhttp m = {.method = sotto_bytes_of("GET", 3),
                     .scheme = sotto_bytes_of("https", 5),
                     .authority = sotto_bytes_of("target.example", 14),
                     .path = sotto_bytes_of("/keys", 5)};
    sotto_test_gateway gateway;
    sotto_test_attested d;

    if (sotto_test_on_postgres())
        NOT_FOR_THIS_DATABASE(t, "a gateway has an SQLite file");
    sotto_test_attested_open(t, &d, NULL);
    sotto_test_attested_collect(t, &d, "keyboard", 100, INT64_C(99999999999));
    sotto_test_gateway_open(t, &gateway, sotto_host_port(d.issuer), "");
    const unsigned port = sotto_host_port(gateway.host);
    const sotto_hpke_config key = sotto_test_gateway_key(t, port);
    sotto_bhttp_field_write(&w, "date", sotto_bytes_of(date, sizeof date - 1));
    CHECK_OK(t, sotto_writer_finish(&w, "fields", &t->err));
    m.fields = sotto_buf_bytes(&fields);
    const sotto_test_sealed sealed = sotto_test_seal_message(t, &key, &m, 1);
    const sotto_test_answer answer =
        sotto_test_post(t, port, NULL, SOTTO_OHTTP_REQUEST_TYPE, sealed.wire);
    const sotto_bhttp list = sotto_test_unseal(t, &sealed, &answer);
    CHECK_EQUAL(t, 200, list.status);
    CHECK(t, sotto_test_holds(list.content, sotto_bytes_of("\"analysis\":\"keyboard\"", 21)));
    sotto_host_close(gateway.host);
    sotto_test_attested_close(&d);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_clock_that_jumps_forgets_nothing),
        CASE(replays_are_remembered_for_two_windows),
        CASE(tables_with_mistakes_are_refused),
        CASE(answers_fit_a_device),
        CASE(an_issuer_s_list_comes_through_a_gateway),
    };

    if (!sotto_test_at_end(sotto_test_oblivious_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
