/* sotto/events.h - what a device's events look like, and where they are kept.
 *
 * Callers:  the host application declares its streams to a device; an analyst's tools read the same streams from a file
 *           (sotto_streams_read in sotto/recipe.h) and judge queries by them.
 * Memory:   everything is borrowed.
 */
#ifndef SOTTO_EVENTS_H
#define SOTTO_EVENTS_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SOTTO_STORE_ID_SIZE = 16,
    SOTTO_STORE_MAX_NAME = 63,   /* bytes of a stream's or field's name  */
    SOTTO_STORE_MAX_FIELDS = 64, /* of one stream                        */
    SOTTO_STORE_MAX_TEXT = 4096  /* bytes of one text value, valid UTF-8 */
};

/* Columns that every stream has besides its own fields. The time may be queried like a field, if the policy
 * allows it; the id never, since it could link two answers. */
#define SOTTO_STORE_ID   "event_id"
#define SOTTO_STORE_TIME "event_time"

typedef enum sotto_type {
    SOTTO_TYPE_NULL, /* only of a value: nothing known */
    SOTTO_TYPE_INTEGER,
    SOTTO_TYPE_REAL,
    SOTTO_TYPE_TEXT,
    SOTTO_TYPE_BOOLEAN /* of a field; a query's answer gives it as the integer 0 or 1 */
} sotto_type;

typedef struct sotto_value {
    sotto_type type;
    union {
        int64_t integer; /* 0 or 1 for a boolean */
        double real;     /* finite */
        sotto_bytes text;
    } as;
} sotto_value;

/* Names are lower case letters, digits and _, starting with a letter, not with sotto_ or sqlite_. */
typedef struct sotto_field {
    const char *name;
    sotto_type type;
} sotto_field;

typedef struct sotto_stream {
    const char *name;
    const sotto_field *fields;
    size_t field_count;
    int64_t max_age;   /* seconds that an event is kept; more than 0 */
    uint64_t max_rows; /* events kept, the newest; more than 0       */
} sotto_stream;

/* All streams of a device, as sotto_streams_read reads them from a file. */
typedef struct sotto_streams {
    const sotto_stream *items;
    size_t count;
} sotto_streams;

/* Where files live, for a host that is not content with the default. */
typedef struct sotto_storage {
    const char *vfs; /* registered with SQLite; NULL: the default one */
    /* Renames a file, replacing another. A host whose paths are not the file system's must bring it, and
     * then keeps files private itself; NULL: rename(2), and files are created with mode 0600. */
    sotto_status (*rename)(void *context, const char *from, const char *to);
    void *context;
} sotto_storage;

#ifdef __cplusplus
}
#endif

#endif
