/* apps/support/fleet.h - devices with duties in this process, over real HTTP: for `sotto demo --trust flamingo` and tests.
 *
 * Memory:   everything hangs from the fleet.
 * Threads:  one at a time.
 */
#ifndef SOTTO_APPS_SUPPORT_FLEET_H
#define SOTTO_APPS_SUPPORT_FLEET_H

#include "aggregate/keygen/keygen.h"
#include "device/duties/duties.h"
#include "support/witnesses.h"
#include "transport/http_client.h"

enum { SOTTO_FLEET_PATH = 192 };

typedef struct sotto_fleet_device {
    struct sotto_fleet *of;
    sotto_duties *duties; /* NULL: it is switched off */
    uint8_t secret[SOTTO_DUTIES_SECRET];
    char journal[SOTTO_FLEET_PATH];
    uint64_t counter; /* the platform's */
    bool counter_fails;
    uint64_t next_ms;
    uint64_t sent, received; /* bytes of bodies, of what was answered */
} sotto_fleet_device;

typedef struct sotto_fleet {
    sotto_http_client *client;
    char server[64];
    bool memory;
    uint32_t count;
    sotto_fleet_device *devices;
    sotto_epoch epoch;
    sotto_duties_terms terms; /* of all devices */
    const sotto_aero_account *own;
    const struct sotto_policy_log
        *logs; /* whose witnesses cosign boards, for devices that are revived from then on */
    size_t log_count;
    unsigned without; /* SOTTO_DUTY_* that the policy of devices that are revived does not name */
    sotto_duties_news_fn
        *news;         /* for devices that are revived from then on; their context is the device */
    sotto_arena arena; /* the epoch's lists */
    sotto_arena scratch;         /* of one exchange */
    unsigned messages;           /* that were sent to rounds */
    uint64_t requests, received; /* of all devices, and bytes of the answers */
    unsigned
        messages_with; /* the status that they are answered with, and nobody gets them; 0: as the server answers */
    unsigned answers_with; /* this status, and nobody is asked; 0: as the server answers */
    sotto_bytes answer;    /* the body then */
    /* A server that tells each device something else: changes what this device is answered. NULL: as it came. */
    void (*bend)(struct sotto_fleet *f, uint32_t device, const char *url, uint8_t *body,
                 size_t len);
    /* A server that does not take everything: the status that a request is answered with, and nobody gets it; 0: it goes on. NULL: all do. */
    unsigned (*keep_off)(struct sotto_fleet *f, uint32_t device, const char *url, sotto_bytes body);
    unsigned exchanges_left; /* before the network goes away; UINT_MAX: never */
} sotto_fleet;

typedef struct sotto_fleet_options {
    uint32_t devices;
    uint32_t witnesses;      /* whose key this process deals */
    sotto_witnesses *served; /* who made theirs instead; NULL: none */
    uint32_t
        members; /* of a committee that this process deals a key; 0: none, see sotto_fleet_call */
    const char *
        folder; /* of the journals; NULL: in memory, and a device that was killed has lost its own */
    const uint8_t *server_key; /* the aggregator's */
    unsigned port;             /* where it listens on loopback */
    /* What devices know of rounds. Registry and committee are filled in from the epoch; so are a cohort, numbers and a densest graph of 0, and no method. */
    sotto_duties_terms terms;
    const sotto_aero_account *own; /* as sotto_duties_options; borrowed */
} sotto_fleet_options;

/* Everybody learns what rounds and committees of this epoch are like. */
void sotto_fleet_expect(sotto_fleet *f, uint32_t members);

/* Devices, each with consent and a policy for all duties, and an epoch with its committee. */
SOTTO_MUST_USE sotto_status sotto_fleet_open(sotto_fleet *f, const sotto_fleet_options *options,
                                             sotto_err *err);
void sotto_fleet_close(sotto_fleet *f);
/* Where the aggregator listens now: for devices that are revived from then on. */
void sotto_fleet_aim(sotto_fleet *f, unsigned port);

/* Every member of the epoch's committee gets its share and signs the record. Open does it once; again after another draw. */
SOTTO_MUST_USE sotto_status sotto_fleet_install(sotto_fleet *f, sotto_err *err);

/* ---- a key that nobody has, made over the network (aggregate/keygen/keygen.h) ----------------------------------- */

typedef struct sotto_fleet_call {
    uint32_t members, step_ms;
    uint64_t now, ends; /* milliseconds since 1970 */
    bool hands_on;      /* the key of the epoch before, else a new one */
    const char *token;  /* the operator's, as "Bearer ..." */
} sotto_fleet_call;

/* Opens the next epoch with its beacon, and tells every device what to expect. *call: in the fleet's arena. */
SOTTO_MUST_USE sotto_status sotto_fleet_write_call(sotto_fleet *f, const sotto_fleet_call *wanted,
                                                   sotto_bytes *call, sotto_err *err);
/* The same; posts the call, and has every device with a place join. */
SOTTO_MUST_USE sotto_status sotto_fleet_call_keygen(sotto_fleet *f, const sotto_fleet_call *wanted,
                                                    sotto_bytes *call, sotto_err *err);
/* Reads the board: the committee's record is the epoch's then. SOTTO_AGAIN: it is not there yet. */
SOTTO_MUST_USE sotto_status sotto_fleet_read_key(sotto_fleet *f, sotto_bytes call, sotto_err *err);

/* A device ends without a word; and comes back with what is on its disk. */
void sotto_fleet_kill(sotto_fleet *f, uint32_t device);
SOTTO_MUST_USE sotto_status sotto_fleet_revive(sotto_fleet *f, uint32_t device, sotto_err *err);

/* Ticks this device, if it is due and switched on. */
SOTTO_MUST_USE sotto_status sotto_fleet_tick_one(sotto_fleet *f, uint32_t device, uint64_t now_ms,
                                                 sotto_err *err);
/* Ticks every device that is due. *next_ms as sotto_duties_tick. A device's failure is reported, and stops nobody else. */
SOTTO_MUST_USE sotto_status sotto_fleet_tick(sotto_fleet *f, uint64_t now_ms, uint64_t *next_ms,
                                             sotto_err *err);

#endif
