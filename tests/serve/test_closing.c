/* Closing a server while its work is under way: whatever is late finds everything it needs, or that it may not go on. */
#define _POSIX_C_SOURCE 200809L
#include "support/service.h"

#include "support/database.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* Takes connections in on a port and says nothing. */
static int open_silence(sotto_test *t, unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    CHECK_EQUAL(t, 0, bind(fd, (const struct sockaddr *)&at, sizeof at));
    CHECK_EQUAL(t, 0, listen(fd, 16));
    return fd;
}

/* A disk that takes its time: what is posted behind this is late. */
static sotto_status dawdle(sotto_tx *tx, void *context, sotto_err *err)
{
    (void)tx;
    (void)context;
    (void)err;
    sotto_test_pause_ms(3000);
    return SOTTO_OK;
}

static void on_dawdled(void *context, sotto_status status, const sotto_err *err)
{
    (void)context;
    (void)status;
    (void)err;
}

/* Jobs whose helper never answers are given back to the store while everything around them closes. */
static void a_leader_closes_while_its_helper_is_silent(sotto_test *t)
{
    sotto_db_job slow = {.fn = dawdle, .done = on_dawdled};
    sotto_test_service s;
    unsigned port;
    int silence;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    port = sotto_server_port(s.helper);
    sotto_server_close(s.helper);
    s.helper = NULL;
    silence = open_silence(t, port);
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQUAL(
            t, 200,
            sotto_test_upload(t, &s, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND)).status);
    sotto_test_pause_ms(500);
    if (!sotto_test_on_postgres()) /* which has other writers */
        sotto_db_post(s.leader->db, &slow);
    sotto_server_close(s.leader);
    s.leader = NULL;
    (void)close(silence);
    sotto_test_service_close(&s);
}

/* A job that is committed while everything around it closes is answered to nobody. */
static void a_helper_closes_while_it_commits(sotto_test *t)
{
    sotto_db_job slow = {.fn = dawdle, .done = on_dawdled};
    sotto_test_service s;

    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    if (!sotto_test_on_postgres())
        sotto_db_post(s.helper->db, &slow);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(
            t, 200,
            sotto_test_upload(t, &s, sotto_test_sealed_report(t, &s, 1, SOTTO_TEST_SOUND)).status);
    sotto_test_pause_ms(500);
    sotto_server_close(s.helper);
    s.helper = NULL;
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_leader_closes_while_its_helper_is_silent),
        CASE(a_helper_closes_while_it_commits),
    };

    return RUN_TESTS(argc, argv, cases);
}
