/* sotto/log.h - what the library has to say, handed to the application.
 *
 * Callers:  an application fills in a sink and gives it to the objects it creates.
 * Memory:   an event and all it points to are borrowed: they live until the sink returns.
 * Threads:  a sink is called from whichever thread has something to say.
 * Secrets:  none. Fields hold names, counts and identifiers, never the contents of reports.
 *
 * The library prints nothing and keeps no sink of its own, so two deployments in one process can't mix.
 */
#ifndef SOTTO_LOG_H
#define SOTTO_LOG_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sotto_log_level {
    SOTTO_LOG_DEBUG,
    SOTTO_LOG_INFO,
    SOTTO_LOG_WARNING,
    SOTTO_LOG_ERROR
} sotto_log_level;

typedef enum sotto_log_type { SOTTO_LOG_TEXT, SOTTO_LOG_UINT, SOTTO_LOG_INT } sotto_log_type;

typedef struct sotto_log_field {
    const char *key;
    sotto_log_type type;
    union {
        const char *text;
        uint64_t uint;
        int64_t sint;
    } value;
} sotto_log_field;

typedef struct sotto_log_event {
    sotto_log_level level;
    const char *name; /* "batch.closed": what happened, stable, the same word every time */
    const sotto_log_field *fields;
    size_t count;
} sotto_log_event;

typedef struct sotto_log_sink {
    void (*write)(void *context, const sotto_log_event *event);
    void *context;
    sotto_log_level lowest; /* events below it are dropped before the call */
} sotto_log_sink;

/* Appends one line without its newline: "warning batch.closed task=abc reports=12". Text that holds
 * anything but plain characters is quoted and escaped, so that no value can forge a field or a line.
 *   SOTTO_TOO_LARGE  out would pass its limit; out is unchanged
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_log_format(sotto_buf *out, const sotto_log_event *event,
                                                       sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
