/* Noise by the servers: both add it, all of it, once for each batch. */
#include "dap/collect.h"
#include "support/database.h"
#include "support/steps.h"

#include <math.h>

enum { CATEGORIES = 600, BINS = CATEGORIES + 1, REPORTS = 24 };

static const sotto_test_service_options noisy = {.categories = CATEGORIES, .sigma = "25.0"};

static void upload_some(sotto_test *t, sotto_test_service *s, uint64_t bin)
{
    CHECK_EQUAL(t, BINS, s->task.bins);
    sotto_test_upload_some(t, s, REPORTS, bin, SOTTO_TEST_SOUND);
}

/* What both servers added, in units of one server's variance; the mean in deviations of the mean. */
static double variance_of(const uint64_t *counts, uint64_t bin, double sigma, double *mean)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < BINS; i++) {
        double off = (double)(int64_t)(counts[i] - (i == bin ? REPORTS : 0));

        sum += off;
        squares += off * off;
    }
    *mean = sum / (sigma * sqrt(2 * BINS));
    return squares / (BINS * sigma * sigma);
}

/* 601 squares of a bell curve: their mean is within 7 of its deviations, which are sqrt(2/601), but for once in 10^10
 * runs. One server's noise alone, half of what each must bring, or twice as much lie far outside. */
static void check_noise(sotto_test *t, const uint64_t *counts, uint64_t bin, double sigma)
{
    double mean, variance = variance_of(counts, bin, sigma, &mean);

    CHECK(t, fabs(variance / 2 - 1) < 7 * sqrt(2.0 / BINS));
    CHECK(t, fabs(mean) < 7);
}

/* The cell of a number, in deviations. */
static size_t cell_of(double x)
{
    static const double ends[] = {-1.25, -0.85, -0.5, -0.25, 0, 0.25, 0.5, 0.85, 1.25};
    size_t cell = 0;

    while (cell < sizeof ends / sizeof ends[0] && x > ends[cell])
        cell++;
    return cell;
}

/* Two discrete Gaussians of this sigma add up to one of sqrt(2) sigma, to within 10^-100: chi-square over ten cells, by its
 * cube root, which is nearly normal. Beyond 5.6 once in 10^7 runs. */
static void check_law(sotto_test *t, const uint64_t *counts, uint64_t bin, double sigma)
{
    enum { CELLS = 10, FAR = 2000 };
    const double deviation = sqrt(2) * sigma, spread = 2.0 / (9 * (CELLS - 1));
    double seen[CELLS] = {0}, wanted[CELLS] = {0}, all = 0, chi = 0;

    for (int x = -FAR; x <= FAR; x++) {
        const double p = exp(-x * (double)x / (2 * deviation * deviation));

        wanted[cell_of(x / deviation)] += p;
        all += p;
    }
    for (size_t i = 0; i < BINS; i++)
        seen[cell_of((double)(int64_t)(counts[i] - (i == bin ? REPORTS : 0)) / deviation)]++;
    for (size_t c = 0; c < CELLS; c++)
        chi += pow(seen[c] - BINS * wanted[c] / all, 2) / (BINS * wanted[c] / all);
    CHECK(t, fabs((cbrt(chi / (CELLS - 1)) - (1 - spread)) / sqrt(spread)) < 5.6);
}

static void sums_carry_the_full_noise_of_both_servers(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[BINS] = {0};

    sotto_test_service_open(t, &s, &noisy);
    CHECK_NEAR(t, 25, s.task.noise_sigma, 0);
    upload_some(t, &s, 5);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, REPORTS, reports); /* the number of reports is public */
    check_noise(t, counts, 5, 25);
    check_law(t, counts, 5, 25);
    sotto_test_service_close(&s);
}

static void the_next_selected_batch_carries_noise_too(sotto_test *t)
{
    sotto_test_service_options options = noisy;
    sotto_test_service s;
    uint64_t reports = 0, counts[BINS] = {0};

    options.leader_selected = true;
    options.sigma = "2.25";
    sotto_test_service_open(t, &s, &options);
    upload_some(t, &s, 0);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 0, &reports, counts));
    check_noise(t, counts, 0, 2.25);
    sotto_test_service_close(&s);
}

/* Or the mean of many answers would be the truth. */
static void collecting_again_gives_the_same_bytes(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[BINS] = {0}, again[BINS] = {0};
    sotto_bytes first;

    sotto_test_service_open(t, &s, &noisy);
    upload_some(t, &s, 5);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    first = s.answer;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, again));
    CHECK_BYTES(t, counts, again, sizeof counts);
    sotto_test_leader_restart(t, &s);
    sotto_test_helper_restart(t, &s);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, again));
    CHECK_EQUAL(t, first.len, s.answer.len);
    CHECK_BYTES(t, first.data, s.answer.data, first.len);
    sotto_test_service_close(&s);
}

/* Its share is on disk before the helper gives the other: a leader that starts again would have two of different noise. */
static void the_leader_draws_once_for_a_batch(sotto_test *t)
{
    sotto_test_service s;
    uint64_t reports = 0, counts[BINS] = {0};
    sotto_dap_collection_resp resp;
    sotto_bytes stored;

    sotto_test_service_open(t, &s, &noisy);
    upload_some(t, &s, 5);
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM sub_aggregate"));
    sotto_test_helper_stop(t, &s);
    s.patience = 1;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK(t, sotto_test_comes(t, s.leader->db, "SELECT count(*) FROM release WHERE state = 2"));
    stored = sotto_test_ask_bytes(t, s.leader->db, "SELECT request FROM release");
    sotto_test_helper_start(t, &s);
    sotto_test_leader_restart(t, &s);
    s.patience = 400;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_OK(t, sotto_dap_collection_resp_decode(&resp, s.answer, &t->err));
    CHECK(t, sotto_test_holds(stored, resp.leader.payload));
    sotto_test_service_close(&s);
}

/* A leader that lies asks as often as it likes, in as many ways as it likes. */
static void the_helper_draws_once_for_a_batch(sotto_test *t)
{
    sotto_test_service s;
    sotto_bytes made[REPORTS];
    sotto_http_response first, again;
    sotto_test_job job;

    sotto_test_service_open(t, &s, &noisy);
    for (size_t i = 0; i < REPORTS; i++)
        made[i] = sotto_test_sealed_report(t, &s, 5, SOTTO_TEST_SOUND);
    job = sotto_test_job_of(t, &s, made, REPORTS, NULL);
    CHECK_EQUAL(t, 201, sotto_test_send_job(t, &s, job.request).status);
    first = sotto_test_ask_share(t, &s, 1, REPORTS, job.checksum);
    CHECK_EQUAL(t, 201, first.status);
    again = sotto_test_ask_share(t, &s, 1, REPORTS, job.checksum);
    CHECK_EQUAL(t, first.body.len, again.body.len);
    CHECK_BYTES(t, first.body.data, again.body.data, first.body.len);
    sotto_test_helper_restart(t, &s);
    again = sotto_test_ask_share(t, &s, 1, REPORTS, job.checksum);
    CHECK_BYTES(t, first.body.data, again.body.data, first.body.len);
    again = sotto_test_ask_share(t, &s, 2, REPORTS, job.checksum);
    CHECK(t, sotto_test_is_problem(&again, SOTTO_DAP_BATCH_OVERLAP));
    sotto_test_service_close(&s);
}

static void a_recipe_without_noise_gets_none(sotto_test *t)
{
    sotto_test_service_options options = noisy;
    sotto_test_service s;
    uint64_t reports = 0, counts[BINS] = {0};
    double mean;

    options.sigma = NULL;
    sotto_test_service_open(t, &s, &options);
    upload_some(t, &s, 5);
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_NEAR(t, 0, variance_of(counts, 5, 1, &mean), 0);
    sotto_test_service_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sums_carry_the_full_noise_of_both_servers),
        CASE(the_next_selected_batch_carries_noise_too),
        CASE(collecting_again_gives_the_same_bytes),
        CASE(the_leader_draws_once_for_a_batch),
        CASE(the_helper_draws_once_for_a_batch),
        CASE(a_recipe_without_noise_gets_none),
    };

    return RUN_TESTS(argc, argv, cases);
}
