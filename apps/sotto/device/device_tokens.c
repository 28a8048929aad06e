/* Tokens of a device: enrolling with an attester, keys that issuers listed, and what became of each. */
#include "device.h"

#include "base/secret_file.h"
#include "recipe/calendar.h"
#include "sotto/random.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- enrol ------------------------------------------------------------------------------------------------ */

sotto_status sotto_device_read_enrolment(sotto_device_job *job)
{
    uint8_t *seed = sotto_arena_take(&job->arena, SOTTO_DEVICE_ENROLMENT + 2);
    sotto_buf out =
        sotto_buf_over(seed, SOTTO_DEVICE_ENROLMENT + 2); /* one that fills it is too long */

    if (!seed)
        return sotto_fail(&job->err, SOTTO_NO_MEMORY, "enrolment key");
    if (access(job->enrolment, F_OK) != 0)
        return SOTTO_OK;
    sotto_err why = {0};
    const sotto_status status =
        sotto_secret_file_read(&out, job->enrolment, SOTTO_SECRET_OWN, &why);
    if (status != SOTTO_OK)
        return sotto_fail(&job->err, status, "%.80s %s", job->enrolment, why.reason);
    if (out.len != SOTTO_DEVICE_ENROLMENT)
        return sotto_fail(&job->err, SOTTO_MALFORMED, "%.100s: no key of `sotto device enrol`",
                          job->enrolment);
    job->options.enrolment = seed;
    return SOTTO_OK;
}

/* The key that is there, or else a new one. */
static sotto_status have_key(sotto_device_job *job)
{
    uint8_t seed[SOTTO_DEVICE_ENROLMENT];

    if (job->options.enrolment)
        return SOTTO_OK;
    SOTTO_TRY(sotto_random_bytes(seed, sizeof seed, &job->err));
    const sotto_status status =
        sotto_secret_file_write(job->enrolment, sotto_bytes_of(seed, sizeof seed), &job->err);
    sotto_wipe(seed, sizeof seed);
    return status == SOTTO_OK ? sotto_device_read_enrolment(job) : status;
}

int sotto_device_run_enrol(sotto_device_job *job)
{
    uint8_t key[SOTTO_DEVICE_ENROLMENT];

    if (have_key(job) != SOTTO_OK ||
        sotto_device_enrolment_key(key, job->options.enrolment, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_hex(&j, "key", sotto_bytes_of(key, sizeof key));
        sotto_device_print_object(&j);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof key; i++)
        printf("%02x", key[i]);
    printf("\n");
    (void)fprintf(stderr,
                  "The line above is public: the attester's operator enrols it (PUT devices/...).\n"
                  "%s is secret: whoever has it can take this device's tokens.\n",
                  job->enrolment);
    return EXIT_DONE;
}

/* ---- keys ------------------------------------------------------------------------------------------------- */

int sotto_device_run_keys(sotto_device_job *job)
{
    sotto_bytes file;

    if (sotto_device_read_file(job, &file, job->words[0]) != SOTTO_OK ||
        sotto_device_take_issuer_keys(job->device, file, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    return sotto_device_say_taken(
        job, "taken. Ticks ask for a token under each key, at a time that was drawn.");
}

/* ---- tokens ----------------------------------------------------------------------------------------------- */

static void print_line(const sotto_token_line *line)
{
    char opens[SOTTO_CALENDAR_TEXT], closes[SOTTO_CALENDAR_TEXT], at[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(opens, line->opens);
    sotto_calendar_format_time(closes, line->closes);
    sotto_calendar_format_time(at, line->at);
    printf("%s  %s to %s  ", sotto_token_state_name(line->state), opens, closes);
    sotto_device_print_text(line->analysis, strlen(line->analysis));
    printf("  (");
    sotto_device_print_text(line->issuer, strlen(line->issuer));
    if (line->state == SOTTO_TOKEN_PLANNED)
        printf("; asked for from %s on)\n", at);
    else if (line->state == SOTTO_TOKEN_ASKED)
        printf("; asked for again from %s on)\n", at);
    else if (line->state == SOTTO_TOKEN_HELD)
        printf("; used from %s on)\n", at);
    else
        printf(")\n");
}

static sotto_status show(void *context, const sotto_token_line *line, sotto_err *err)
{
    const sotto_device_job *job = context;
    sotto_json j;

    (void)err;
    if (!job->json) {
        print_line(line);
        return SOTTO_OK;
    }
    j = sotto_device_object();
    sotto_json_text(&j, "state", sotto_token_state_name(line->state));
    sotto_json_text(&j, "analysis", line->analysis);
    sotto_json_text(&j, "issuer", line->issuer);
    sotto_json_int(&j, "opens", line->opens);
    sotto_json_int(&j, "closes", line->closes);
    if (line->at)
        sotto_json_int(&j, "at", line->at);
    sotto_device_print_object(&j);
    return SOTTO_OK;
}

int sotto_device_run_tokens(sotto_device_job *job)
{
    if (sotto_device_tokens(job->device, show, job, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    return EXIT_DONE;
}
