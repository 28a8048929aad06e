/* The INI file, by libinih. inih does not tell the handler line numbers, and treats what follows the 199th byte of a line
 * as another line. So lines are handed to it one by one, counted and measured here. */
#include "serve/host/options_table.h"

#include <ini.h>
#include <stdio.h>
#include <string.h>

typedef struct reading {
    sotto_settings *settings;
    FILE *file;
    const char *path;
    unsigned line;
    bool has_section;
} reading;

static void skip_rest(FILE *file)
{
    int c;

    do
        c = fgetc(file);
    while (c != '\n' && c != EOF);
}

/* "[leader] or [helper]": the sections that there are. */
static const char *sections(char out[200])
{
    size_t len = 0;

    out[0] = 0;
    for (size_t i = 0; i < sotto_service_count && len < 200; i++)
        len += (size_t)snprintf(out + len, 200 - len, "%s[%s]",
                                i == 0                        ? ""
                                : i + 1 < sotto_service_count ? ", "
                                                              : " or ",
                                sotto_services[i]->name);
    return out;
}

/* libinih reports a section only with its settings, but a section without settings is a valid file. */
static void see_section(reading *r, const char *line)
{
    const char *name = line + strspn(line, " \t") + 1;
    size_t len = strcspn(name, "]");
    const sotto_service *service = sotto_service_find(name, len);
    char known[200];

    if (!service)
        sotto_settings_complain(r->settings, "%.200s:%u: [%.*s]: a section is %s", r->path, r->line,
                                (int)(len < 40 ? len : 40), name, sections(known));
    else if (r->has_section)
        sotto_settings_complain(r->settings, "%.200s:%u: a file has one section", r->path, r->line);
    else if (r->settings->service && r->settings->service != service)
        sotto_settings_complain(r->settings, "%.200s:%u: this file is for a %s", r->path, r->line,
                                service->name);
    else
        r->settings->service = service;
    r->has_section = true;
}

static char *next_line(char *out, int size, void *context)
{
    reading *r = context;
    size_t len;

    if (!fgets(out, size, r->file))
        return NULL;
    r->line++;
    len = strlen(out);
    if (len > 0 && out[len - 1] != '\n' && len + 1 == (size_t)size) {
        sotto_settings_complain(r->settings, "%.200s:%u: a line has at most %d bytes", r->path,
                                r->line, size - 2);
        skip_rest(r->file);
        out[0] = 0;
    } else if (out[strspn(out, " \t")] == '[') {
        see_section(r, out);
    }
    return out;
}

static int set(void *context, const char *section, const char *name, const char *value)
{
    reading *r = context;
    int at = sotto_option_find(r->settings->service, name, strlen(name));
    sotto_setting *s = at < 0 ? NULL : &r->settings->of[at];
    char where[256], known[200];

    (void)section; /* see_section has judged it */
    if (!r->has_section)
        sotto_settings_complain(r->settings, "%.200s:%u: %.40s: before %s", r->path, r->line, name,
                                sections(known));
    if (!s) {
        sotto_settings_complain(r->settings, "%.200s:%u: %.40s: there is no such option", r->path,
                                r->line, name);
    } else if (s->text) {
        sotto_settings_complain(
            r->settings, "%.200s:%u: %s: given twice (a line that starts with a space goes on)",
            r->path, r->line, sotto_option_at((size_t)at).option->name);
    } else {
        (void)snprintf(where, sizeof where, "%.200s:%u", r->path, r->line);
        s->text = sotto_settings_copy(r->settings, value, strlen(value));
        s->where = sotto_settings_copy(r->settings, where, strlen(where));
        s->in_file = true;
    }
    return 1;
}

sotto_status sotto_settings_read_file(sotto_settings *settings, const char *path, sotto_err *err)
{
    const char *slash = strrchr(path, '/');
    reading r = {.settings = settings, .path = path};
    int line;
    char known[200];

    settings->directory =
        slash ? sotto_settings_copy(settings, path, (size_t)(slash - path) + 1) : "";
    r.file = fopen(path, "r");
    if (!r.file)
        return sotto_fail(err, SOTTO_MISSING, "can't read %.120s", path);
    line = ini_parse_stream(next_line, &r, set, &r);
    if (ferror(r.file) != 0)
        line = -1;
    (void)fclose(r.file);
    if (line < 0)
        return sotto_fail(err, SOTTO_MISSING, "can't read %.120s", path);
    if (line > 0)
        sotto_settings_complain(settings, "%.200s:%d: a line is `name = value`", path, line);
    if (!r.has_section)
        sotto_settings_complain(settings, "%.200s: no section: %s", path, sections(known));
    return SOTTO_OK;
}
