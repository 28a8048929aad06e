/* The table of options, and the three texts that are printed from it. */
#include "serve/host/options_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AT(field)                                                                                  \
    offsetof(sotto_serve_config, field), sizeof(((const sotto_serve_config *)0)->field)
#define SAME(text)                                                                                 \
    {                                                                                              \
        text, text                                                                                 \
    }
#define NOTHING                                                                                    \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

enum { DAY = 86400 };

/* clang-format off */
const sotto_option sotto_options[] = {
    {"listen", SOTTO_OPTION_ADDRESS, SOTTO_FOR_BOTH, AT(server.listen),
     {"127.0.0.1:8787", "127.0.0.1:8788"}, 0, 0, NULL,
     "where DAP requests arrive; port 0 picks a free one"},
    {"path", SOTTO_OPTION_PATH, SOTTO_FOR_BOTH, AT(server.path), SAME("/"), 0, 0, NULL,
     "what this server's URL has behind the host, from / to /"},
    {"certificate", SOTTO_OPTION_FILE, SOTTO_FOR_BOTH, AT(server.certificate), NOTHING, 0, 0, NULL,
     "TLS certificate chain (PEM); without one the server speaks plain HTTP, on loopback only"},
    {"private_key", SOTTO_OPTION_SECRET, SOTTO_FOR_BOTH, AT(server.private_key), NOTHING, 0, 0,
     "tls-private-key", "the file with the certificate's private key (PEM)"},
    {"plain_http", SOTTO_OPTION_SWITCH, SOTTO_FOR_BOTH, AT(server.plain_http), SAME("no"), 0, 0, NULL,
     "allow plain HTTP off loopback, for a proxy on a network of your own that ends TLS"},
    {"ca_file", SOTTO_OPTION_FILE, SOTTO_FOR_LEADER, AT(server.ca_file), NOTHING, 0, 0, NULL,
     "whom to believe about the helper's certificate (PEM); else the system's list"},
    {"operations", SOTTO_OPTION_ADDRESS, SOTTO_FOR_BOTH, AT(server.operations),
     {"127.0.0.1:9787", "127.0.0.1:9788"}, 0, 0, NULL,
     "where /healthz, /readyz and /metrics listen"},
    {"operations_anywhere", SOTTO_OPTION_SWITCH, SOTTO_FOR_BOTH, AT(server.operations_anywhere),
     SAME("no"), 0, 0, NULL, "allow the operations port off loopback; it speaks plain HTTP to everybody"},
    {"database", SOTTO_OPTION_DATABASE, SOTTO_FOR_BOTH, AT(server.database),
     {"sqlite:leader.db", "sqlite:helper.db"}, 0, 0, NULL,
     "sqlite:FILE, or a PostgreSQL address without its password, which belongs in a file that libpq reads"},
    {"datastore_key", SOTTO_OPTION_SECRET, SOTTO_FOR_BOTH, AT(server.datastore_key),
     {"leader.key", "helper.key"}, 0, 0, "datastore-key",
     "the file with the keys that seal the database's secrets: 32 bytes each, the newest first"},
    {"loops", SOTTO_OPTION_NUMBER, SOTTO_FOR_BOTH, AT(server.loops), SAME("1"), 1, 64, NULL,
     "threads that read and write connections"},
    {"workers", SOTTO_OPTION_NUMBER, SOTTO_FOR_BOTH, AT(server.workers), SAME("2"), 1, 256, NULL,
     "threads that open shares and verify proofs"},
    {"connections", SOTTO_OPTION_NUMBER, SOTTO_FOR_BOTH, AT(server.connections), NOTHING, 16, 1000000, NULL,
     "clients' connections at once; else 10000, or what the file limit leaves if that is less"},
    {"bytes_in_flight", SOTTO_OPTION_SIZE, SOTTO_FOR_BOTH, AT(server.bytes_in_flight), SAME("64M"),
     (uint64_t)8 << 20, (uint64_t)1 << 36, NULL,
     "of all requests and answers together; past it clients are told to come back"},
    {"job_reports", SOTTO_OPTION_NUMBER, SOTTO_FOR_LEADER, AT(server.job_reports), SAME("500"), 1,
     1000, NULL, "reports in a full aggregation job"},
    {"job_delay_ms", SOTTO_OPTION_NUMBER, SOTTO_FOR_LEADER, AT(server.job_delay_ms), SAME("250"), 1,
     3600000, NULL, "milliseconds that the oldest report waits, at most, for its job to fill"},
    {"jobs_in_flight", SOTTO_OPTION_NUMBER, SOTTO_FOR_LEADER, AT(server.jobs_in_flight), SAME("8"), 1,
     256, NULL, "aggregation jobs under way at once"},
    {"lease", SOTTO_OPTION_DURATION, SOTTO_FOR_LEADER, AT(server.lease_seconds), SAME("60s"), 5, 3600,
     NULL, "how long a job belongs to the process that took it; another goes on with it then"},
    {"clock_skew", SOTTO_OPTION_DURATION, SOTTO_FOR_BOTH, AT(server.clock_skew_seconds), SAME("5m"), 1,
     DAY, NULL, "how far ahead of this server's clock a report's time may be"},
    {"late", SOTTO_OPTION_DURATION, SOTTO_FOR_BOTH, AT(server.late_seconds), SAME("14d"), 60,
     (uint64_t)3650 * DAY, NULL, "how long after its task has closed a report may still arrive"},
    {"key_pending", SOTTO_OPTION_DURATION, SOTTO_FOR_BOTH, AT(server.key_times.pending), SAME("1h"), 60,
     (uint64_t)30 * DAY, NULL, "how long a new HPKE key is known to all replicas before it is published"},
    {"key_active", SOTTO_OPTION_DURATION, SOTTO_FOR_BOTH, AT(server.key_times.active), SAME("84d"), 3600,
     (uint64_t)3650 * DAY, NULL, "how long an HPKE key is published; its successor is made in time"},
    {"key_expired", SOTTO_OPTION_DURATION, SOTTO_FOR_BOTH, AT(server.key_times.expired), SAME("7d"), 60,
     (uint64_t)3650 * DAY, NULL, "how long an HPKE key still opens reports after that; then it is deleted"},
    {"drain", SOTTO_OPTION_DURATION, SOTTO_FOR_BOTH, AT(drain_seconds), SAME("30s"), 1, 3600, NULL,
     "how long a server that was told to stop finishes what it has accepted"},
    {"log_level", SOTTO_OPTION_LEVEL, SOTTO_FOR_BOTH, AT(log_level), SAME("info"), 0, 0, NULL,
     "debug, info, warning or error: the least that is logged, on standard error"},
};
/* clang-format on */
const size_t sotto_option_count = sizeof sotto_options / sizeof sotto_options[0];

bool sotto_option_is_for(const sotto_option *option, sotto_role role)
{
    return option->roles & (role == SOTTO_LEADER ? SOTTO_FOR_LEADER : SOTTO_FOR_HELPER);
}

const char *sotto_option_preset(const sotto_option *option, sotto_role role)
{
    return option->preset[role == SOTTO_LEADER ? 0 : 1];
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
    static const char *const names[] = {"address", "path", "database", "file",      "secret file",
                                        "number",  "size", "duration", "yes or no", "level"};

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

sotto_status sotto_serve_options_help(sotto_buf *out, sotto_role role, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    for (size_t i = 0; i < sotto_option_count; i++) {
        const sotto_option *o = &sotto_options[i];
        const char *preset = sotto_option_preset(o, role);

        if (!sotto_option_is_for(o, role) || o->type == SOTTO_OPTION_SECRET)
            continue;
        put(&w, "  ");
        put_flag(&w, o, 22);
        put(&w, " ");
        put(&w, o->help);
        put(&w, "\n                         ");
        put(&w, type_name(o->type));
        if (o->most) {
            put(&w, ", ");
            put_range(&w, o);
        }
        put(&w, preset ? "; " : "; none");
        put(&w, preset ? preset : "");
        put(&w, "\n");
    }
    put(&w, "\nIn the file alone, since they name secrets:\n\n");
    for (size_t i = 0; i < sotto_option_count; i++) {
        if (sotto_options[i].type != SOTTO_OPTION_SECRET)
            continue;
        put(&w, "  ");
        put_padded(&w, sotto_options[i].name, 22);
        put(&w, " ");
        put(&w, sotto_options[i].help);
        put(&w, "\n");
    }
    return sotto_writer_finish(&w, "help", err);
}

sotto_status sotto_serve_options_sample(sotto_buf *out, sotto_role role, sotto_err *err)
{
    const char *name = role == SOTTO_LEADER ? "leader" : "helper";
    sotto_writer w = sotto_writer_on(out);

    put(&w, "# sotto serve ");
    put(&w, name);
    put(&w, " --config THIS_FILE\n# Every line is what is taken without it; [");
    put(&w, name);
    put(&w, "] alone is a complete file.\n\n[");
    put(&w, name);
    put(&w, "]\n");
    for (size_t i = 0; i < sotto_option_count; i++) {
        const sotto_option *o = &sotto_options[i];
        const char *preset = sotto_option_preset(o, role);

        if (!sotto_option_is_for(o, role))
            continue;
        put(&w, "\n# ");
        put(&w, o->help);
        if (o->most) {
            put(&w, ": ");
            put_range(&w, o);
        }
        put(&w, preset ? "\n" : "\n#");
        put(&w, o->name);
        put(&w, " = ");
        put(&w, preset ? preset : "");
        put(&w, "\n");
    }
    return sotto_writer_finish(&w, "sample file", err);
}

static const char reference_head[] =
    "# Options of `sotto serve`\n"
    "\n"
    "<!-- Printed by `sotto serve leader --reference`; edit src/serve/host/options_table.c "
    "instead. "
    "-->\n"
    "\n"
    "`sotto serve leader --config FILE` and `sotto serve helper --config FILE` read an INI file "
    "with one section,\n"
    "`[leader]` or `[helper]`. Each option may also come from the environment (`SOTTO_` and its "
    "name in capitals) or\n"
    "from a flag (`--` and its name, with `-` for `_`): flags win over the environment, which wins "
    "over the file.\n"
    "Unknown names, names given twice and values out of range are errors, and all of them are "
    "reported together.\n"
    "\n"
    "- Relative file names in the file start from the directory of the file.\n"
    "- Secrets are files: the two options of that type name them, in the configuration file alone. "
    "Where such an option\n"
    "  is not set and systemd hands over a credential of the name given below, that one is taken.\n"
    "- If the datastore key's file does not exist and the database is empty, it is made (mode "
    "0600), and the log says\n"
    "  so. Never otherwise: a database whose key is lost does not open.\n"
    "- A duration is a number and s, m, h or d; a size a number and K, M or G or nothing.\n"
    "\n"
    "`sotto serve leader --sample` prints a complete file. `docs/operating.md` is the way from "
    "nothing to a running\n"
    "server.\n"
    "\n"
    "| option | for | type | default | from, to | what it is |\n"
    "|---|---|---|---|---|---|\n";

sotto_status sotto_serve_options_reference(sotto_buf *out, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    put(&w, reference_head);
    for (size_t i = 0; i < sotto_option_count; i++) {
        const sotto_option *o = &sotto_options[i];

        put(&w, "| `");
        put(&w, o->name);
        put(&w, "` | ");
        put(&w, o->roles == SOTTO_FOR_BOTH ? "both" : "leader");
        put(&w, " | ");
        put(&w, type_name(o->type));
        put(&w, " | ");
        for (int role = 0; role < 2; role++) {
            const char *preset = o->preset[role], *leaders = o->preset[0];

            if (!preset || (role > 0 && leaders && strcmp(leaders, preset) == 0))
                continue;
            put(&w, role > 0 ? ", `" : "`");
            put(&w, preset);
            put(&w, "`");
        }
        put(&w, " | ");
        put_range(&w, o);
        put(&w, " | ");
        put(&w, o->help);
        if (o->credential) {
            put(&w, "; credential `");
            put(&w, o->credential);
            put(&w, "`");
        }
        put(&w, " |\n");
    }
    return sotto_writer_finish(&w, "reference", err);
}
