/* One table: what is taken, what is refused, and that all mistakes come at once. */
#define _POSIX_C_SOURCE 200809L
#include "serve/helper/helper_service.h"
#include "serve/host/options_table.h"
#include "serve/leader/leader_service.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sotto_serve_config config;
static char directory[] = "/tmp/sotto-options-XXXXXX";

static const char *path_of(sotto_test *t, const char *name)
{
    char *path = sotto_arena_take(&t->arena, 300);

    CHECK(t, path != NULL);
    (void)snprintf(path, 300, "%s/%s", directory, name);
    return path;
}

static const char *write_file(sotto_test *t, const char *text)
{
    const char *path = path_of(t, "server.ini");
    FILE *file = fopen(path, "w");

    CHECK(t, file != NULL);
    CHECK(t, fputs(text, file) >= 0);
    CHECK_EQUAL(t, 0, fclose(file));
    return path;
}

/* Gives back first what an earlier reading took. */
static sotto_status read_config(const sotto_config_sources *from, sotto_err *err)
{
    sotto_serve_config_clear(&config);
    return sotto_serve_config_read(&config, from, err);
}

static sotto_status read_text(sotto_test *t, const char *text, sotto_err *err)
{
    return read_config(
        &(sotto_config_sources){.service = &sotto_leader_service, .file = write_file(t, text)},
        err);
}

static sotto_status read_flags(char **argv, int argc, sotto_err *err)
{
    return read_config(
        &(sotto_config_sources){.service = &sotto_leader_service, .argc = argc, .argv = argv}, err);
}

static const sotto_task_options *own(void)
{
    return config.own;
}

static bool complains(const char *text)
{
    return strstr(config.mistakes, text) != NULL;
}

static void remove_directory(void)
{
    static const char *const names[] = {"/server.ini", "/datastore-key", ""};
    char path[64];

    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "%s%s", directory, names[i]);
        (void)remove(path);
    }
}

static void a_section_alone_is_a_complete_file(sotto_test *t)
{
    const char *path = write_file(t, "[helper]\n");
    char wanted[300];

    CHECK_OK(t, read_config(&(sotto_config_sources){.file = path}, &t->err));
    CHECK(t, config.service == &sotto_helper_service);
    CHECK_EQUAL(t, 0, strcmp(config.host.listen, "127.0.0.1:8788"));
    CHECK_EQUAL(t, (uint64_t)84 * 86400, own()->key_times.active);
    CHECK_EQUAL(t, (size_t)64 << 20, config.host.bytes_in_flight);
    CHECK_EQUAL(t, 30, config.drain_seconds);
    /* A relative name starts where the file is, so that every program means the same database. */
    (void)snprintf(wanted, sizeof wanted, "sqlite:%.*shelper.db",
                   (int)(strrchr(path, '/') - path) + 1, path);
    CHECK_EQUAL(t, 0, strcmp(config.host.database, wanted));
    sotto_serve_config_clear(&config);
}

static const char *some_environment(const char *name)
{
    if (strcmp(name, "SOTTO_LOOPS") == 0)
        return "3";
    return strcmp(name, "SOTTO_WORKERS") == 0 ? "5" : NULL;
}

static void flags_win_over_environment_and_environment_over_the_file(sotto_test *t)
{
    char *flags[] = {(char *)(uintptr_t) "--workers", (char *)(uintptr_t) "7",
                     (char *)(uintptr_t) "--job-delay-ms=11"};
    sotto_config_sources from = {
        .service = &sotto_leader_service,
        .file = write_file(t, "[leader]\nloops = 2\nworkers = 2\njobs_in_flight = 9\n"),
        .argc = 3,
        .argv = flags,
        .environment = some_environment};

    CHECK_OK(t, read_config(&from, &t->err));
    CHECK_EQUAL(t, 3, config.host.loops);
    CHECK_EQUAL(t, 7, config.host.workers);
    CHECK_EQUAL(t, 9, own()->jobs_in_flight);
    CHECK_EQUAL(t, 11, own()->job_delay_ms);
    sotto_serve_config_clear(&config);
}

static void every_mistake_is_reported_at_once(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t,
                           "[leader]\n"
                           "liste = 127.0.0.1:1\n"
                           "workers = 0\n"
                           "loops = 2\n"
                           "loops = 3\n"
                           "key_active = soon\n"
                           "plain_http = perhaps\n"
                           "path = dap\n"
                           "operations = 9787\n"
                           "no equals sign\n",
                           &t->err));
    CHECK_EQUAL(t, 8, config.mistake_count);
    CHECK(t, complains(":2: liste: there is no such option"));
    CHECK(t, complains(":3: workers = 0: from 1 to 256"));
    CHECK(t, complains(":5: loops: given twice"));
    CHECK(t, complains(":6: key_active = soon"));
    CHECK(t, complains(":7: plain_http = perhaps: yes or no"));
    CHECK(t, complains(":8: path = dap"));
    CHECK(t, complains(":9: operations = 9787"));
    CHECK(t, complains(":10: a line is `name = value`"));
    sotto_serve_config_clear(&config);
}

static void a_file_is_for_one_role(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, "[helper]\n", &t->err));
    CHECK(t, complains("this file is for a helper"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, "[leader]\n[leader]\n", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, "[relay]\n", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, "loops = 1\n", &t->err));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        read_config(&(sotto_config_sources){.file = write_file(t, "[helper]\njob_reports = 5\n")},
                    &t->err));
    CHECK(t, complains("job_reports: an option of the leader's"));
}

static void a_long_line_is_refused_and_never_cut(sotto_test *t)
{
    char name[300], text[600];

    memset(name, 'a', sizeof name);
    (void)snprintf(text, sizeof text, "[leader]\nca_file = /%.*s\nloops = 4\n", (int)sizeof name,
                   name);
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, text, &t->err));
    CHECK_EQUAL(t, 1, config.mistake_count);
    CHECK(t, complains(":2: a line has at most"));
}

static void secrets_are_neither_flags_nor_environment_nor_shown(sotto_test *t)
{
    static const char key[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    char *flags[] = {(char *)(uintptr_t) "--datastore-key", (char *)(uintptr_t)key};
    char text[200];

    CHECK_STATUS(t, SOTTO_MALFORMED, read_flags(flags, 2, &t->err));
    CHECK(t, complains("secrets are no flags"));
    CHECK(t, !complains("0011223344"));
    (void)snprintf(text, sizeof text, "[leader]\ndatastore_key = %s\n", key);
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, text, &t->err));
    CHECK(t, complains("never the secret"));
    CHECK(t, !complains("0011223344"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, "[leader]\ndatabase = postgresql://me:hunter2@db/sotto\n", &t->err));
    CHECK(t, complains("passfile"));
    CHECK(t, !complains("hunter2"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, "[leader]\ndatabase = host=db password=hunter2\n", &t->err));
    CHECK(t, !complains("hunter2"));
    CHECK_OK(t, read_text(t, "[leader]\ndatabase = host=db passfile=/etc/pg\n", &t->err));
    sotto_serve_config_clear(&config);
}

static const char *with_secret(const char *name)
{
    return strcmp(name, "SOTTO_DATASTORE_KEY") == 0 ? "hunter2" : NULL;
}

static void the_environment_names_no_secret(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_config(&(sotto_config_sources){.service = &sotto_leader_service,
                                                     .environment = with_secret},
                             &t->err));
    CHECK(t, !complains("hunter2"));
}

static const char *credentials;

static const char *with_credentials(const char *name)
{
    return strcmp(name, "CREDENTIALS_DIRECTORY") == 0 ? credentials : NULL;
}

static void a_credential_is_taken_where_the_file_names_none(sotto_test *t)
{
    const char *path = path_of(t, "datastore-key");
    FILE *file = fopen(path, "w");

    CHECK(t, file != NULL && fclose(file) == 0);
    credentials = directory;
    CHECK_OK(t, read_config(&(sotto_config_sources){.service = &sotto_helper_service,
                                                    .environment = with_credentials},
                            &t->err));
    CHECK_EQUAL(t, 0, strcmp(path, config.host.datastore_key));
    sotto_serve_config_clear(&config);
}

static void plain_http_stays_on_loopback(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, "[leader]\nlisten = 0.0.0.0:80\n", &t->err));
    CHECK(t, complains("plain HTTP is for loopback"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, "[leader]\noperations = [::]:80\n", &t->err));
    CHECK(t, complains("operations_anywhere"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, "[leader]\ncertificate = c.pem\n", &t->err));
    CHECK(t, complains("both or none"));
    CHECK_OK(t, read_text(t, "[leader]\nlisten = 0.0.0.0:80\nplain_http = yes\n", &t->err));
    sotto_serve_config_clear(&config);
    CHECK_OK(t, read_text(t,
                          "[leader]\nlisten = 0.0.0.0:443\ncertificate = c.pem\n"
                          "private_key = k.pem\n",
                          &t->err));
    sotto_serve_config_clear(&config);
}

static void connections_are_a_number_within_bounds(sotto_test *t)
{
    static const char *const bad[] = {"15", "1000001", "64M", "-1", "all"};
    char text[60];

    CHECK_OK(t, read_text(t, "[leader]\n", &t->err));
    CHECK_EQUAL(t, 0, config.host.connections); /* as many as the file limit allows */
    CHECK_OK(t, read_text(t, "[leader]\nconnections = 16\n", &t->err));
    CHECK_EQUAL(t, 16, config.host.connections);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        (void)snprintf(text, sizeof text, "[leader]\nconnections = %s\n", bad[i]);
        CHECK_STATUS(t, SOTTO_MALFORMED, read_text(t, text, &t->err));
        CHECK(t, complains("from 16 to 1000000"));
    }
    sotto_serve_config_clear(&config);
}

static void keys_overlap(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, "[leader]\nkey_pending = 1h\nkey_active = 3h\n", &t->err));
    CHECK(t, complains("key_active: at least four times"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, "[leader]\nkey_pending = 1d\nkey_lead = 2h\n", &t->err));
    CHECK(t, complains("key_lead: at least as long as key_pending"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_text(t, "[leader]\nkey_active = 10d\nkey_lead = 41d\n", &t->err));
    CHECK(t, complains("key_lead: at most four times"));
    CHECK_OK(t, read_text(t, "[leader]\nkey_active = 10d\nkey_lead = 40d\n", &t->err));
    sotto_serve_config_clear(&config);
}

static void the_sample_is_a_file_of_defaults(sotto_test *t)
{
    static uint8_t memory[1 << 16];

    for (size_t i = 0; i < 2; i++) {
        sotto_buf out = sotto_buf_over(memory, sizeof memory - 1);

        CHECK_OK(t, sotto_serve_options_sample(&out, sotto_services[i], &t->err));
        memory[out.len] = 0;
        CHECK_OK(t,
                 read_config(&(sotto_config_sources){.service = sotto_services[i],
                                                     .file = write_file(t, (const char *)memory)},
                             &t->err));
        CHECK_EQUAL(t, 2, config.host.workers);
        sotto_serve_config_clear(&config);
    }
}

static void the_reference_page_is_the_table(sotto_test *t)
{
    static uint8_t memory[1 << 16], page[1 << 16];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    FILE *file = fopen(SOTTO_SOURCE "/docs/serving.md", "rb");
    size_t len;

    CHECK(t, file != NULL);
    CHECK_OK(t, sotto_serve_options_reference(&out, &t->err));
    len = fread(page, 1, sizeof page, file);
    CHECK_EQUAL(t, 0, fclose(file));
    if (len != out.len || memcmp(page, memory, len) != 0)
        (void)fprintf(stderr, "run: sotto serve leader --reference > docs/serving.md\n");
    CHECK_EQUAL(t, out.len, len);
    CHECK_BYTES(t, memory, page, len);
}

static void every_option_fits_the_list_of_settings(sotto_test *t)
{
    sotto_option_row row;
    size_t count = 0;

    for (; (row = sotto_option_at(count)).option; count++)
        CHECK_EQUAL(
            t, count,
            (size_t)sotto_option_find(row.service, row.option->name, strlen(row.option->name)));
    CHECK(t, count <= SOTTO_MAX_OPTIONS);
}

/* A number twice would let one service open another's database. */
static void services_have_their_own_mark_and_ports(sotto_test *t)
{
    for (size_t i = 0; i < sotto_service_count; i++)
        for (size_t j = 0; j < i; j++) {
            const sotto_service *a = sotto_services[i], *b = sotto_services[j];

            CHECK(t, a->owner != b->owner && strcmp(a->name, b->name) != 0);
            CHECK(t, strcmp(a->listen, b->listen) != 0);
            CHECK(t, strcmp(a->operations, b->operations) != 0);
        }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_section_alone_is_a_complete_file),
        CASE(flags_win_over_environment_and_environment_over_the_file),
        CASE(every_mistake_is_reported_at_once),
        CASE(a_file_is_for_one_role),
        CASE(a_long_line_is_refused_and_never_cut),
        CASE(secrets_are_neither_flags_nor_environment_nor_shown),
        CASE(the_environment_names_no_secret),
        CASE(a_credential_is_taken_where_the_file_names_none),
        CASE(plain_http_stays_on_loopback),
        CASE(connections_are_a_number_within_bounds),
        CASE(keys_overlap),
        CASE(the_sample_is_a_file_of_defaults),
        CASE(the_reference_page_is_the_table),
        CASE(every_option_fits_the_list_of_settings),
        CASE(services_have_their_own_mark_and_ports),
    };

    if (!mkdtemp(directory) || !sotto_test_at_end(remove_directory))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
