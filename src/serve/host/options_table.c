/* The table of options, and the three texts that are printed from it. */
#include "serve/host/options_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AT(field)                                                                                  \
    offsetof(sotto_serve_config, field), sizeof(((const sotto_serve_config *)0)->field)

enum { DAY = 86400 };

/* clang-format off */
static const sotto_option host_options[] = {
    {"listen", SOTTO_OPTION_ADDRESS, AT(host.listen),
     "{listen}", 0, 0, NULL,
     "where requests arrive; port 0 picks a free one", SOTTO_OPTION_ALWAYS},
    {"path", SOTTO_OPTION_PATH, AT(host.path), "/", 0, 0, NULL,
     "what this server's URL has behind the host, from / to /", SOTTO_OPTION_ALWAYS},
    {"certificate", SOTTO_OPTION_FILE, AT(host.certificate), NULL, 0, 0, NULL,
     "TLS certificate chain (PEM); without one the server speaks plain HTTP, on loopback only",
     SOTTO_OPTION_ALWAYS},
    {"private_key", SOTTO_OPTION_SECRET, AT(host.private_key), NULL, 0, 0,
     "tls-private-key", "the file with the certificate's private key (PEM)", SOTTO_OPTION_ALWAYS},
    {"plain_http", SOTTO_OPTION_SWITCH, AT(host.plain_http), "no", 0, 0, NULL,
     "allow plain HTTP off loopback, for a proxy on a network of your own that ends TLS",
     SOTTO_OPTION_ALWAYS},
    {"ca_file", SOTTO_OPTION_FILE, AT(host.ca_file), NULL, 0, 0, NULL,
     "whom to believe about the certificates of peers (PEM); else the system's list",
     SOTTO_OPTION_IF_CALLS},
    {"operations", SOTTO_OPTION_ADDRESS, AT(host.operations),
     "{operations}", 0, 0, NULL,
     "where /healthz, /readyz and /metrics listen", SOTTO_OPTION_ALWAYS},
    {"operations_anywhere", SOTTO_OPTION_SWITCH, AT(host.operations_anywhere),
     "no", 0, 0, NULL, "allow the operations port off loopback; it speaks plain HTTP to everybody",
     SOTTO_OPTION_ALWAYS},
    {"database", SOTTO_OPTION_DATABASE, AT(host.database),
     "sqlite:{name}.db", 0, 0, NULL,
     "sqlite:FILE, or a PostgreSQL address without its password, which belongs in a file that libpq reads",
     SOTTO_OPTION_ALWAYS},
    {"datastore_key", SOTTO_OPTION_SECRET, AT(host.datastore_key),
     "{name}.key", 0, 0, "datastore-key",
     "the file with the keys that seal the database's secrets: 32 bytes each, the newest first",
     SOTTO_OPTION_ALWAYS},
    {"loops", SOTTO_OPTION_NUMBER, AT(host.loops), "1", 1, 64, NULL,
     "threads that read and write connections", SOTTO_OPTION_ALWAYS},
    {"workers", SOTTO_OPTION_NUMBER, AT(host.workers), "2", 1, 256, NULL,
     "threads that open shares and verify proofs", SOTTO_OPTION_ALWAYS},
    {"connections", SOTTO_OPTION_NUMBER, AT(host.connections), NULL, 16, 1000000, NULL,
     "clients' connections at once; else 10000, or what the file limit leaves if that is less",
     SOTTO_OPTION_ALWAYS},
    {"bytes_in_flight", SOTTO_OPTION_SIZE, AT(host.bytes_in_flight), "64M",
     (uint64_t)8 << 20, (uint64_t)1 << 36, NULL,
     "of all requests and answers together; past it clients get 503, and retry",
     SOTTO_OPTION_ALWAYS},
    {"address_share", SOTTO_OPTION_NUMBER, AT(host.address_share), "25", 1, 100, NULL,
     "percent of bytes_in_flight, and of connections, that uploads from one address may hold once half is taken; 100 behind a proxy",
     SOTTO_OPTION_ALWAYS},
    {"upload_time", SOTTO_OPTION_DURATION, AT(host.upload_seconds), "120s", 10, 3600, NULL,
     "how long one upload may take; a slower one is refused", SOTTO_OPTION_ALWAYS},
    {"lease", SOTTO_OPTION_DURATION, AT(host.lease_seconds), "60s", 5, 3600,
     NULL, "how long a job belongs to the process that took it; another goes on with it then",
     SOTTO_OPTION_IF_QUEUES},
    {"drain", SOTTO_OPTION_DURATION, AT(drain_seconds), "30s", 1, 3600, NULL,
     "how long a server that was told to stop finishes what it has accepted", SOTTO_OPTION_ALWAYS},
    {"log_level", SOTTO_OPTION_LEVEL, AT(log_level), "info", 0, 0, NULL,
     "debug, info, warning or error: the least that is logged, on standard error",
     SOTTO_OPTION_ALWAYS},
};
/* clang-format on */
enum { HOST_OPTIONS = sizeof host_options / sizeof host_options[0] };

sotto_option_row sotto_option_at(size_t i)
{
    if (i < HOST_OPTIONS)
        return (sotto_option_row){&host_options[i], NULL};
    i -= HOST_OPTIONS;
    for (size_t s = 0; s < sotto_service_count; s++) {
        const sotto_service *service = sotto_services[s];

        if (i < service->option_count)
            return (sotto_option_row){&service->options[i], service};
        i -= service->option_count;
    }
    return (sotto_option_row){NULL, NULL};
}

bool sotto_option_is_for(const sotto_option_row *row, const sotto_service *service)
{
    if (row->service)
        return row->service == service;
    switch (row->option->when) {
    case SOTTO_OPTION_IF_CALLS:
        return service->calls;
    case SOTTO_OPTION_IF_QUEUES:
        return service->queue_count > 0;
    case SOTTO_OPTION_ALWAYS:
    default:
        return true;
    }
}

const char *sotto_option_preset(char out[SOTTO_PRESET], const sotto_option *option,
                                const sotto_service *service)
{
    const struct {
        const char *word, *text;
    } words[] = {{"{name}", service->name},
                 {"{listen}", service->listen},
                 {"{operations}", service->operations}};
    const char *at = option->preset ? strchr(option->preset, '{') : NULL;

    for (size_t i = 0; at && i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i].word);

        if (strncmp(at, words[i].word, len) != 0)
            continue;
        (void)snprintf(out, SOTTO_PRESET, "%.*s%s%s", (int)(at - option->preset), option->preset,
                       words[i].text, at + len);
        return out;
    }
    return option->preset;
}

int sotto_option_find(const sotto_service *service, const char *name, size_t len)
{
    sotto_option_row row;
    int found = -1;

    for (size_t i = 0; (row = sotto_option_at(i)).option; i++) {
        const char *known = row.option->name;
        size_t at = 0;

        while (at < len && known[at] && (name[at] == '-' ? '_' : name[at]) == known[at])
            at++;
        if (at < len || known[at])
            continue;
        if (!row.service || row.service == service)
            return (int)i;
        found = found < 0 ? (int)i : found;
    }
    return found;
}

/* ---- printing ------------------------------------------------------------------------------------------------- */

static void put(sotto_writer *w, const char *text)
{
    sotto_write_bytes(w, sotto_bytes_of(text, strlen(text)));
}

static void put_padded(sotto_writer *w, const char *text, size_t width)
{
    put(w, text);
    for (size_t len = strlen(text); len < width; len++)
        put(w, " ");
}

static void put_number(sotto_writer *w, const sotto_option *option, uint64_t value)
{
    static const struct {
        uint64_t unit;
        char sign;
    } sizes[] = {{1 << 30, 'G'}, {1 << 20, 'M'}, {1 << 10, 'K'}},
      times[] = {{DAY, 'd'}, {3600, 'h'}, {60, 'm'}};
    char text[40];

    (void)snprintf(text, sizeof text,
                   option->type == SOTTO_OPTION_DURATION ? "%" PRIu64 "s" : "%" PRIu64, value);
    for (size_t i = 0; i < 3; i++) {
        uint64_t unit = option->type == SOTTO_OPTION_SIZE ? sizes[i].unit : times[i].unit;
        char sign = option->type == SOTTO_OPTION_SIZE ? sizes[i].sign : times[i].sign;

        if (option->type == SOTTO_OPTION_NUMBER || value % unit != 0)
            continue;
        (void)snprintf(text, sizeof text, "%" PRIu64 "%c", value / unit, sign);
        break;
    }
    put(w, text);
}

static const char *type_name(sotto_option_type type)
{
    static const char *const names[] = {"address",     "path",   "database", "file",
                                        "secret file", "number", "size",     "duration",
                                        "yes or no",   "level",  "URL"};

    return names[type];
}

static void put_range(sotto_writer *w, const sotto_option *option)
{
    if (option->most == 0)
        return;
    put_number(w, option, option->least);
    put(w, " to ");
    put_number(w, option, option->most);
}

/* --job-delay-ms */
static void put_flag(sotto_writer *w, const sotto_option *option, size_t width)
{
    char flag[40] = "--";

    for (size_t i = 0; option->name[i] && i + 3 < sizeof flag; i++)
        flag[i + 2] = option->name[i] == '_' ? '-' : option->name[i];
    put_padded(w, flag, width);
}

static void help_row(sotto_writer *w, const sotto_option *o, const sotto_service *service)
{
    char text[SOTTO_PRESET];
    const char *preset = sotto_option_preset(text, o, service);

    put(w, "  ");
    put_flag(w, o, 22);
    put(w, " ");
    put(w, o->help);
    put(w, "\n                         ");
    put(w, type_name(o->type));
    if (o->most) {
        put(w, ", ");
        put_range(w, o);
    }
    put(w, preset ? "; " : "; none");
    put(w, preset ? preset : "");
    put(w, "\n");
}

sotto_status sotto_serve_options_help(sotto_buf *out, const sotto_service *service, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    sotto_option_row row;

    for (size_t i = 0; (row = sotto_option_at(i)).option; i++)
        if (sotto_option_is_for(&row, service) && row.option->type != SOTTO_OPTION_SECRET)
            help_row(&w, row.option, service);
    put(&w, "\nIn the file alone, since they name secrets:\n\n");
    for (size_t i = 0; (row = sotto_option_at(i)).option; i++) {
        if (!sotto_option_is_for(&row, service) || row.option->type != SOTTO_OPTION_SECRET)
            continue;
        put(&w, "  ");
        put_padded(&w, row.option->name, 22);
        put(&w, " ");
        put(&w, row.option->help);
        put(&w, "\n");
    }
    return sotto_writer_finish(&w, "help", err);
}

static void sample_row(sotto_writer *w, const sotto_option *o, const sotto_service *service)
{
    char text[SOTTO_PRESET];
    const char *preset = sotto_option_preset(text, o, service);

    put(w, "\n# ");
    put(w, o->help);
    if (o->most) {
        put(w, ": ");
        put_range(w, o);
    }
    put(w, preset ? "\n" : "\n#");
    put(w, o->name);
    put(w, " = ");
    put(w, preset ? preset : "");
    put(w, "\n");
}

sotto_status sotto_serve_options_sample(sotto_buf *out, const sotto_service *service,
                                        sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    sotto_option_row row;

    put(&w, "# sotto serve ");
    put(&w, service->name);
    put(&w, " --config THIS_FILE\n# Every line is what is taken without it; [");
    put(&w, service->name);
    put(&w, "] alone is a complete file.\n\n[");
    put(&w, service->name);
    put(&w, "]\n");
    for (size_t i = 0; (row = sotto_option_at(i)).option; i++)
        if (sotto_option_is_for(&row, service))
            sample_row(&w, row.option, service);
    return sotto_writer_finish(&w, "sample file", err);
}

static const char reference_head[] =
    "# Options of `sotto serve`\n"
    "\n"
    "<!-- Printed by `sotto serve leader --reference`; edit "
    "src/serve/host/options_table.c, or the table of its service, instead. -->\n"
    "\n"
    "`sotto serve SERVICE --config FILE` reads an INI file with one section, `[SERVICE]`: leader, "
    "helper, gateway, relay,\n"
    "log, witness, issuer, attester or aggregator. Each option may also come from the environment "
    "(`SOTTO_` and its name in capitals) or\n"
    "from a flag (`--` and its name, with `-` for `_`). Flags win over the environment, which wins "
    "over the file.\n"
    "Unknown names, names given twice and values out of range are errors, and all of them are "
    "reported together.\n"
    "\n"
    "- Relative file names in the file start from the directory of the file.\n"
    "- Secrets are files: options of that type name them, in the configuration file alone. "
    "Where such an option\n"
    "  is not set and systemd hands over a credential of the name given below, that one is taken.\n"
    "- If the datastore key's file does not exist and the database is empty, it is made (mode "
    "0600), and the log says\n"
    "  so. Never otherwise: a database whose key is lost does not open.\n"
    "- A duration is a number and s, m, h or d; a size a number and K, M or G or nothing.\n"
    "\n"
    "`sotto serve SERVICE --sample` prints a complete file. `docs/operating.md` is the way from "
    "nothing to a running\n"
    "server.\n"
    "\n"
    "| option | for | type | default | from, to | what it is |\n"
    "|---|---|---|---|---|---|\n";

/* The row of this name that a service has; {NULL}: none. */
static sotto_option_row row_of(const sotto_service *service, const char *name)
{
    sotto_option_row row = sotto_option_at(
        (size_t)sotto_option_find(service, name, strlen(name))); /* a name of the table's */

    return row.option && sotto_option_is_for(&row, service) ? row : (sotto_option_row){NULL, NULL};
}

/* Who has an option of this name: "all", or their names. */
static void put_services(sotto_writer *w, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < sotto_service_count; i++)
        count += row_of(sotto_services[i], name).option != NULL;
    if (count == sotto_service_count) {
        put(w, "all");
        return;
    }
    for (size_t i = 0, written = 0; i < sotto_service_count; i++)
        if (row_of(sotto_services[i], name).option) {
            put(w, written++ ? ", " : "");
            put(w, sotto_services[i]->name);
        }
}

/* The default that a service has and none before it in the list; NULL: none. */
static const char *new_preset(char text[SOTTO_PRESET], const char *name, size_t service)
{
    char earlier[SOTTO_PRESET];
    sotto_option_row row = row_of(sotto_services[service], name);
    const char *preset =
        row.option ? sotto_option_preset(text, row.option, sotto_services[service]) : NULL;

    for (size_t k = 0; k < service && preset; k++) {
        sotto_option_row other = row_of(sotto_services[k], name);
        const char *before =
            other.option ? sotto_option_preset(earlier, other.option, sotto_services[k]) : NULL;

        if (before && strcmp(before, preset) == 0)
            return NULL;
    }
    return preset;
}

/* The defaults of this name, each once, and whose each is if there are several. */
static void put_presets(sotto_writer *w, const char *name)
{
    char text[SOTTO_PRESET];
    size_t count = 0, written = 0;

    for (size_t i = 0; i < sotto_service_count; i++)
        count += new_preset(text, name, i) != NULL;
    for (size_t i = 0; i < sotto_service_count; i++) {
        const char *preset = new_preset(text, name, i);

        if (!preset)
            continue;
        put(w, written++ ? ", " : "");
        if (count > 1) {
            put(w, sotto_services[i]->name);
            put(w, " ");
        }
        put(w, "`");
        put(w, preset);
        put(w, "`");
    }
}

/* The credential that stands for this name, and whose each is if services have several. */
static void put_credentials(sotto_writer *w, const sotto_option *o)
{
    const char *before = "; credential ";
    bool differ = false;

    for (size_t i = 0; i < sotto_service_count && o->credential; i++) {
        const sotto_option *other = row_of(sotto_services[i], o->name).option;

        differ = differ ||
                 (other && (!other->credential || strcmp(other->credential, o->credential) != 0));
    }
    for (size_t i = 0; i < sotto_service_count && o->credential; i++) {
        const sotto_option *other = row_of(sotto_services[i], o->name).option;

        if (!other || !other->credential)
            continue;
        put(w, before);
        if (differ) {
            put(w, sotto_services[i]->name);
            put(w, " ");
        }
        put(w, "`");
        put(w, other->credential);
        put(w, "`");
        if (!differ)
            return;
        before = ", ";
    }
}

static void reference_row(sotto_writer *w, const sotto_option *o)
{
    put(w, "| `");
    put(w, o->name);
    put(w, "` | ");
    put_services(w, o->name);
    put(w, " | ");
    put(w, type_name(o->type));
    put(w, " | ");
    put_presets(w, o->name);
    put(w, " | ");
    put_range(w, o);
    put(w, " | ");
    put(w, o->help);
    put_credentials(w, o);
    put(w, " |\n");
}

sotto_status sotto_serve_options_reference(sotto_buf *out, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    sotto_option_row row;

    put(&w, reference_head);
    /* A name that several services have is told once, where the first of them has it. */
    for (size_t i = 0; (row = sotto_option_at(i)).option; i++)
        if (sotto_option_find(NULL, row.option->name, strlen(row.option->name)) == (int)i)
            reference_row(&w, row.option);
    return sotto_writer_finish(&w, "reference", err);
}
