/* From what was given to a configuration: collected from all sources first, then judged, so that every mistake is found. */
#include "serve/host/options_table.h"

#include "recipe/calendar.h"
#include "transport/http.h"

#include "transport/http_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 1 << 18, MAX_TEXT = 4096 };

void sotto_settings_complain(sotto_settings *settings, const char *format, ...)
{
    sotto_serve_config *c = settings->config;
    size_t used = strlen(c->mistakes), room = sizeof c->mistakes - used;
    va_list args;
    int len;

    c->mistake_count++;
    va_start(args, format);
    len = vsnprintf(c->mistakes + used, room, format, args);
    va_end(args);
    if (len < 0 || (size_t)len + 2 > room) {
        c->mistakes[used] = 0; /* whole lines only; the count tells that there are more */
        return;
    }
    c->mistakes[used + (size_t)len] = '\n';
    c->mistakes[used + (size_t)len + 1] = 0;
}

const char *sotto_settings_copy(sotto_settings *settings, const char *text, size_t len)
{
    char *out = len < MAX_TEXT ? sotto_arena_take(&settings->config->arena, len + 1) : NULL;

    if (!out)
        sotto_settings_complain(settings, "a text of %zu bytes is too long", len);
    else if (len > 0)
        memcpy(out, text, len);
    return out;
}

/* ---- environment and flags ------------------------------------------------------------------------------------ */

/* SOTTO_JOB_DELAY_MS */
static void variable_of(char out[64], const char *option)
{
    static const char prefix[] = "SOTTO_";
    size_t at = sizeof prefix - 1;

    memcpy(out, prefix, at);
    for (; *option && at + 1 < 64; option++)
        out[at++] = *option >= 'a' && *option <= 'z' ? (char)(*option - 'a' + 'A') : *option;
    out[at] = 0;
}

static void read_environment(sotto_settings *s, const char *(*environment)(const char *))
{
    sotto_option_row row;

    for (size_t i = 0; environment && (row = sotto_option_at(i)).option; i++) {
        char name[64];
        const char *text;

        variable_of(name, row.option->name);
        text = environment(name);
        if (!text ||
            sotto_option_find(s->service, row.option->name, strlen(row.option->name)) != (int)i)
            continue;
        if (row.option->type == SOTTO_OPTION_SECRET) {
            sotto_settings_complain(s, "%s: a secret's file is named in the configuration file",
                                    name);
            continue;
        }
        s->of[i] = (sotto_setting){sotto_settings_copy(s, text, strlen(text)),
                                   sotto_settings_copy(s, name, strlen(name)), false};
    }
}

/* --name VALUE, --name=VALUE; a secret is not even looked at. */
static void read_flags(sotto_settings *s, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const char *flag = argv[i], *text;
        size_t len = strcspn(flag, "=");
        int at =
            strncmp(flag, "--", 2) == 0 ? sotto_option_find(s->service, flag + 2, len - 2) : -1;
        const sotto_option *option = at < 0 ? NULL : sotto_option_at((size_t)at).option;

        if (!option) {
            sotto_settings_complain(s, "%.*s: there is no such option", (int)(len < 40 ? len : 40),
                                    flag);
            continue;
        }
        text = flag[len] ? flag + len + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (option->type == SOTTO_OPTION_SECRET)
            sotto_settings_complain(
                s, "--%s: secrets are no flags; name the file in the configuration file",
                option->name);
        else if (!text)
            sotto_settings_complain(s, "--%s: which value?", option->name);
        else
            s->of[at] = (sotto_setting){sotto_settings_copy(s, text, strlen(text)),
                                        sotto_settings_copy(s, flag, len), false};
    }
}

/* ---- judging one value ---------------------------------------------------------------------------------------- */

typedef struct judged {
    sotto_settings *settings;
    const sotto_option *option;
    const sotto_setting *given;
    void *out;
} judged;

static void refuse(const judged *j, const char *accepted)
{
    sotto_settings_complain(j->settings, "%s: %s = %.60s: %s", j->given->where, j->option->name,
                            j->given->text, accepted);
}

/* Where nothing of the value may be shown. */
static void refuse_unseen(const judged *j, const char *accepted)
{
    sotto_settings_complain(j->settings, "%s: %s: %s", j->given->where, j->option->name, accepted);
}

static void put_text(const judged *j, const char *text)
{
    memcpy(j->out, &text, sizeof text);
}

/* A relative name in the file starts where the file is. */
static void put_file(const judged *j, const char *prefix, const char *name)
{
    const char *directory = j->given->in_file && name[0] != '/' ? j->settings->directory : "";
    char path[MAX_TEXT];
    int len = snprintf(path, sizeof path, "%s%s%s", prefix, directory, name);

    if (len < 0 || (size_t)len >= sizeof path)
        refuse_unseen(j, "the name is too long");
    else
        put_text(j, sotto_settings_copy(j->settings, path, (size_t)len));
}

static bool put_number(const judged *j, uint64_t value)
{
    if (value < j->option->least || value > j->option->most)
        return false;
    if (j->option->size == sizeof(unsigned)) {
        unsigned small = (unsigned)value;

        memcpy(j->out, &small, sizeof small);
    } else {
        memcpy(j->out, &value, sizeof value);
    }
    return true;
}

static void judge_url(const judged *j)
{
    char host[256];

    if (sotto_http_url_check(host, sizeof host, j->given->text, true, NULL) != SOTTO_OK)
        refuse(j, "a URL of http or https");
    else
        put_text(j, j->given->text);
}

static void judge_number(const judged *j)
{
    static const char units[] = "KMG";
    const char *text = j->given->text;
    uint64_t value = 0;
    char accepted[80];
    size_t digits = strspn(text, "0123456789");
    bool good = digits > 0 && digits < 16;

    if (j->option->type == SOTTO_OPTION_DURATION) {
        good = sotto_calendar_parse_duration(&value, text);
    } else if (good) {
        const char *unit = text + digits, *found;

        value = strtoull(text, NULL, 10);
        found = unit[0] ? strchr(units, unit[0]) : NULL;
        if (unit[0] && (j->option->type != SOTTO_OPTION_SIZE || !found || unit[1]))
            good = false;
        else if (found)
            value <<= 10 * (size_t)(found - units + 1);
    }
    if (good && put_number(j, value))
        return;
    (void)snprintf(accepted, sizeof accepted, "from %llu to %llu%s",
                   (unsigned long long)j->option->least, (unsigned long long)j->option->most,
                   j->option->type == SOTTO_OPTION_DURATION ? " seconds, as 90s, 5m, 2h or 14d"
                   : j->option->type == SOTTO_OPTION_SIZE   ? " bytes, as 64M"
                                                            : "");
    refuse(j, accepted);
}

static void judge_switch(const judged *j)
{
    bool yes = strcmp(j->given->text, "yes") == 0;

    if (!yes && strcmp(j->given->text, "no") != 0)
        refuse(j, "yes or no");
    else
        memcpy(j->out, &yes, sizeof yes);
}

static void judge_level(const judged *j)
{
    static const char *const names[] = {"debug", "info", "warning", "error"};

    for (size_t i = 0; i < 4; i++)
        if (strcmp(j->given->text, names[i]) == 0) {
            sotto_log_level level = (sotto_log_level)i;

            memcpy(j->out, &level, sizeof level);
            return;
        }
    refuse(j, "debug, info, warning or error");
}

static void judge_address(const judged *j)
{
    const char *text = j->given->text, *colon = strrchr(text, ':');
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

    if (!colon || colon == text || digits == 0 || digits > 5 || colon[1 + digits] ||
        strtoul(colon + 1, NULL, 10) > 65535)
        refuse(j, "an address and a port, as 127.0.0.1:8787 or [::1]:8787");
    else
        put_text(j, text);
}

static void judge_path(const judged *j)
{
    const char *text = j->given->text;

    if (text[0] != '/' || text[strlen(text) - 1] != '/' || strstr(text, "//"))
        refuse(j, "from / to /, as /dap/");
    else
        put_text(j, text);
}

/* postgresql://user:password@host, or password=... among libpq's words: processes and logs would show it. */
static bool has_password(const char *address)
{
    const char *host = strstr(address, "://");
    const char *at = host ? strchr(host, '@') : NULL;

    if (at)
        for (const char *c = host + 3; c < at; c++)
            if (*c == ':')
                return true;
    return strstr(address, "password=") || strstr(address, "password =");
}

static void judge_database(const judged *j)
{
    static const char lite[] = "sqlite:";
    const char *text = j->given->text;

    if (strncmp(text, lite, sizeof lite - 1) == 0 && text[sizeof lite - 1])
        put_file(j, lite, text + sizeof lite - 1);
    else if (strncmp(text, lite, sizeof lite - 1) == 0)
        refuse_unseen(j, "sqlite:FILE, or what libpq takes");
    else if (has_password(text))
        refuse_unseen(j, "a password belongs in a file that libpq reads: passfile=FILE");
    else
        put_text(j, text);
}

/* A key or token that was pasted in place of a file name must not be shown in an error. */
static void judge_secret(const judged *j)
{
    const char *text = j->given->text;
    size_t plain =
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-");

    if (strstr(text, "-----BEGIN") || (plain >= 32 && !text[plain] && !strchr(text, '/')) ||
        (plain >= 40 && text[0] != '/' && text[plain - 1] == '='))
        refuse_unseen(j, "the name of the file that holds the secret, never the secret");
    else
        put_file(j, "", text);
}

/* An option of services that this is not. */
static void refuse_foreign(const judged *j, const sotto_option_row *row)
{
    char accepted[80] = "no option of this service's";

    for (size_t i = 0; i < sotto_service_count; i++)
        if (sotto_option_is_for(row, sotto_services[i])) {
            (void)snprintf(accepted, sizeof accepted, "an option of the %.40s's",
                           sotto_services[i]->name);
            break;
        }
    refuse_unseen(j, accepted);
}

static void judge(sotto_settings *s, size_t at)
{
    sotto_option_row row = sotto_option_at(at);
    const sotto_option *o = row.option;
    judged j = {s, o, &s->of[at],
                (row.service ? (uint8_t *)s->config->own : (uint8_t *)s->config) + o->offset};

    if (!sotto_option_is_for(&row, s->service)) {
        refuse_foreign(&j, &row);
        return;
    }
    if (!j.given->text[0]) {
        refuse_unseen(&j, "is empty; leave the line out for the default");
        return;
    }
    switch (o->type) {
    case SOTTO_OPTION_ADDRESS:
        judge_address(&j);
        break;
    case SOTTO_OPTION_PATH:
        judge_path(&j);
        break;
    case SOTTO_OPTION_DATABASE:
        judge_database(&j);
        break;
    case SOTTO_OPTION_FILE:
        put_file(&j, "", j.given->text);
        break;
    case SOTTO_OPTION_SECRET:
        judge_secret(&j);
        break;
    case SOTTO_OPTION_SWITCH:
        judge_switch(&j);
        break;
    case SOTTO_OPTION_LEVEL:
        judge_level(&j);
        break;
    case SOTTO_OPTION_URL:
        judge_url(&j);
        break;
    case SOTTO_OPTION_NUMBER:
    case SOTTO_OPTION_SIZE:
    case SOTTO_OPTION_DURATION:
    default:
        judge_number(&j);
        break;
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

/* systemd's credential, where the file does not name another. */
static void take_credential(sotto_settings *s, size_t at, const char *directory)
{
    const sotto_option *option = sotto_option_at(at).option;
    char path[MAX_TEXT];
    int len;
    FILE *file;

    if (!directory || !option->credential || s->of[at].text)
        return;
    len = snprintf(path, sizeof path, "%s/%s", directory, option->credential);
    if (len < 0 || (size_t)len >= sizeof path || !(file = fopen(path, "rb")))
        return;
    (void)fclose(file);
    s->of[at] = (sotto_setting){sotto_settings_copy(s, path, (size_t)len), "credential", false};
}

static bool is_loopback(const char *listen)
{
    const char *colon = listen ? strrchr(listen, ':') : NULL;

    return colon && sotto_http_host_is_loopback(sotto_bytes_of(listen, (size_t)(colon - listen)));
}

static void judge_together(sotto_settings *s)
{
    const sotto_host_options *o = &s->config->host;
    const char *wrong;

    if (!o->certificate != !o->private_key)
        sotto_settings_complain(s, "certificate and private_key: both or none");
    if (o->listen && !o->certificate && !o->plain_http && !is_loopback(o->listen))
        sotto_settings_complain(
            s,
            "listen = %.60s: plain HTTP is for loopback: give a certificate, or plain_http = yes",
            o->listen);
    if (o->operations && !o->operations_anywhere && !is_loopback(o->operations))
        sotto_settings_complain(
            s, "operations = %.60s: not loopback: needs operations_anywhere = yes", o->operations);
    wrong = s->service->check ? s->service->check(s->config->own) : NULL;
    if (wrong)
        sotto_settings_complain(s, "%s", wrong);
}

static void judge_all(sotto_settings *s, const char *credentials)
{
    sotto_option_row row;

    for (size_t i = 0; (row = sotto_option_at(i)).option; i++) {
        char text[SOTTO_PRESET];
        const char *preset;

        if (sotto_option_is_for(&row, s->service)) {
            take_credential(s, i, credentials);
            preset = sotto_option_preset(text, row.option, s->service);
            if (!s->of[i].text && preset)
                s->of[i] = (sotto_setting){sotto_settings_copy(s, preset, strlen(preset)),
                                           "default", true};
        }
        if (s->of[i].text)
            judge(s, i);
    }
    judge_together(s);
}

sotto_status sotto_serve_config_read(sotto_serve_config *config, const sotto_config_sources *from,
                                     sotto_err *err)
{
    sotto_settings s = {.config = config, .service = from->service, .directory = ""};
    char first[sizeof err->reason];

    memset(config, 0, sizeof *config);
    sotto_arena_init(&config->arena, MEMORY);
    if (from->file)
        SOTTO_TRY(sotto_settings_read_file(&s, from->file, err));
    read_environment(&s, from->environment);
    read_flags(&s, from->argc, from->argv);
    if (!s.service && config->mistake_count == 0)
        return sotto_fail(err, SOTTO_MISSING, "which service? Give its --config FILE");
    config->service = s.service;
    if (s.service) {
        config->own = sotto_arena_take(&config->arena, s.service->config_size + 1);
        if (!config->own)
            return sotto_fail(err, SOTTO_NO_MEMORY, "the configuration");
        judge_all(&s, from->environment ? from->environment("CREDENTIALS_DIRECTORY") : NULL);
    }
    if (config->mistake_count == 0)
        return SOTTO_OK;
    (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(config->mistakes, "\n"),
                   config->mistakes);
    return sotto_fail(err, SOTTO_MALFORMED, "%s", first);
}

void sotto_serve_config_clear(sotto_serve_config *config)
{
    sotto_arena_clear(&config->arena);
}
