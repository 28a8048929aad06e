/* base/log.h - how the library's own code says something.
 *
 *     sotto_log(server->log, SOTTO_LOG_INFO, "batch.closed", sotto_log_text("task", id),
 *               sotto_log_uint("reports", n));
 *
 * A sink of NULL, or one without a function, hears nothing. Fields never hold contents of reports.
 */
#ifndef SOTTO_BASE_LOG_H
#define SOTTO_BASE_LOG_H

#include "sotto/log.h"

static inline sotto_log_field sotto_log_text(const char *key, const char *text)
{
    return (sotto_log_field){.key = key, .type = SOTTO_LOG_TEXT, .value.text = text};
}

static inline sotto_log_field sotto_log_uint(const char *key, uint64_t value)
{
    return (sotto_log_field){.key = key, .type = SOTTO_LOG_UINT, .value.uint = value};
}

static inline sotto_log_field sotto_log_int(const char *key, int64_t value)
{
    return (sotto_log_field){.key = key, .type = SOTTO_LOG_INT, .value.sint = value};
}

#define sotto_log(sink, level, name, ...)                                                          \
    sotto_log_fields(sink, level, name, (const sotto_log_field[]){__VA_ARGS__},                    \
                     sizeof((const sotto_log_field[]){__VA_ARGS__}) / sizeof(sotto_log_field))

void sotto_log_fields(const sotto_log_sink *sink, sotto_log_level level, const char *name,
                      const sotto_log_field *fields, size_t count);

#endif
