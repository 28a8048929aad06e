/* serve/host/option.h - one row of a table of options: the host's, or a service's. */
#ifndef SOTTO_SERVE_HOST_OPTION_H
#define SOTTO_SERVE_HOST_OPTION_H

#include "sotto/base.h"

typedef enum sotto_option_type {
    SOTTO_OPTION_ADDRESS,  /* 127.0.0.1:8787, [::1]:8787                          */
    SOTTO_OPTION_PATH,     /* of a URL                                             */
    SOTTO_OPTION_DATABASE, /* sqlite:FILE, or what libpq takes, without a password */
    SOTTO_OPTION_FILE,
    SOTTO_OPTION_SECRET, /* a file that holds a secret                           */
    SOTTO_OPTION_NUMBER,
    SOTTO_OPTION_SIZE,     /* bytes: 64M    */
    SOTTO_OPTION_DURATION, /* seconds: 14d  */
    SOTTO_OPTION_SWITCH,   /* yes, no       */
    SOTTO_OPTION_LEVEL,    /* of the log    */
    SOTTO_OPTION_URL,      /* of a peer     */
} sotto_option_type;

/* Which services a row of the host's is for. */
typedef enum sotto_option_when {
    SOTTO_OPTION_ALWAYS,
    SOTTO_OPTION_IF_CALLS,  /* those that call peers  */
    SOTTO_OPTION_IF_QUEUES, /* those that have queues */
} sotto_option_when;

typedef struct sotto_option {
    const char *name;
    sotto_option_type type;
    size_t offset, size; /* in sotto_serve_config, or in the service's own struct  */
    const char
        *preset; /* the default; {name}, {listen} and {operations} are the service's. NULL: none */
    uint64_t least, most;   /* of numbers, sizes and durations                       */
    const char *credential; /* of secrets: systemd's name, used where nothing is set */
    const char *help;
    sotto_option_when when;
} sotto_option;

#endif
