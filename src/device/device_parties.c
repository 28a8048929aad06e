/* Parties files that keys of the policy signed, in place of the one that the application ships. */
#include "device/device_log.h"

#include "base/alloc.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "device/ledger/parties_taken.h"
#include "recipe/signed_parties.h"

#include <inttypes.h>
#include <string.h>

/* Reads a file that this policy allows, into the arena. */
static sotto_status judge(const sotto_device *device, const sotto_parties **parties,
                          uint64_t *serial, const sotto_logged *logged, sotto_arena *arena,
                          sotto_err *err)
{
    sotto_mistakes *mistakes;
    sotto_signed_parties file;

    SOTTO_TRY(sotto_signed_parties_decode(&file, logged->object, err));
    SOTTO_TRY(sotto_signed_parties_check(&file, device->terms.policy, err));
    if (SOTTO_RULE(logged_parties_of_their_serial) && logged->log && logged->serial != file.serial)
        return sotto_fail(err, SOTTO_REJECTED, "parties file: its log has another serial");
    mistakes = sotto_alloc(sizeof *mistakes);
    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "parties file");
    sotto_status status = sotto_parties_read(parties, file.parties, arena, mistakes, err);
    sotto_release(mistakes, sizeof *mistakes);
    if (status != SOTTO_OK)
        return status;
    /* The signer may renew keys. Only the application says who the parties are. */
    if (SOTTO_RULE(signed_parties_same_servers) &&
        !sotto_parties_same_servers(device->shipped, *parties))
        return sotto_fail(err, SOTTO_DENIED,
                          "parties file: other names, roles or URLs than the application's");
    *serial = file.serial;
    return SOTTO_OK;
}

/* From now on these are the device's. What they point into is moved along. */
static void use(sotto_device *device, const sotto_parties *parties, uint64_t serial,
                sotto_bytes bytes, sotto_arena *arena)
{
    sotto_arena_clear(&device->replaced);
    device->replaced = *arena;
    device->terms.parties = parties;
    device->terms.serial = serial;
    sotto_hash_once(device->terms.signed_hash, SOTTO_SHA256, bytes);
}

static bool is_of_the_machine(sotto_status status)
{
    return status == SOTTO_IO || status == SOTTO_AGAIN || status == SOTTO_NO_MEMORY ||
           status == SOTTO_BUG;
}

static sotto_status take_up(sotto_device *device, uint64_t taken, sotto_err *err)
{
    const sotto_parties *parties = NULL;
    uint64_t serial = 0;
    sotto_err why = {0};
    sotto_bytes bytes;
    sotto_arena arena;
    sotto_logged logged;

    sotto_arena_init(&arena, SOTTO_RECIPE_ARENA);
    sotto_status status = sotto_parties_taken_file(device->ledger, &bytes, taken, &arena, &why);
    if (status == SOTTO_OK)
        status = sotto_device_logged_before(device->terms.policy, &logged, bytes,
                                            SOTTO_ENTRY_PARTIES, &why);
    if (status == SOTTO_OK)
        status = judge(device, &parties, &serial, &logged, &arena, &why);
    if (status == SOTTO_OK) {
        use(device, parties, serial, logged.object, &arena);
    } else {
        sotto_arena_clear(&arena);
        if (is_of_the_machine(status))
            return sotto_fail(err, status, "%s", why.reason);
    }
    device->looked = taken;
    return SOTTO_OK;
}

sotto_status sotto_device_look_for_parties(sotto_device *device, sotto_err *err)
{
    uint64_t taken;

    if (sotto_ledger_closed(device->ledger))
        return SOTTO_OK;
    SOTTO_TRY(sotto_parties_taken_serial(device->ledger, &taken, err));
    if (taken <= device->looked || taken <= device->terms.serial)
        return SOTTO_OK;
    return take_up(device, taken, err);
}

static bool is_in_use(const sotto_device *device, sotto_bytes bytes)
{
    uint8_t hash[sizeof device->terms.signed_hash];

    sotto_hash_once(hash, SOTTO_SHA256, bytes);
    return memcmp(hash, device->terms.signed_hash, sizeof hash) == 0;
}

/* Whether the very same file is the one with this serial, the highest that is known. It may be in use, where the
 * application may have brought it. Or it is in the record, since another process took it or today's policy does not
 * allow it. */
static sotto_status compare(sotto_device *device, bool *same, uint64_t serial, sotto_bytes bytes,
                            sotto_err *err)
{
    sotto_bytes known = {NULL, 0};
    sotto_err why = {0};

    if (serial == device->terms.serial) {
        *same = is_in_use(device, bytes);
        return SOTTO_OK;
    }
    sotto_status status =
        sotto_parties_taken_file(device->ledger, &known, serial, &device->work, &why);
    sotto_bundle bundle = {.object = known};

    /* A later bundle has the same file with another proof. */
    if (sotto_bundle_is(known))
        (void)!sotto_bundle_decode(&bundle, known, NULL);
    *same = status == SOTTO_OK && sotto_bytes_equal_vartime(bundle.object, bytes);
    sotto_arena_reset(&device->work);
    return status == SOTTO_OK || status == SOTTO_MISSING
               ? SOTTO_OK
               : sotto_fail(err, status, "%s", why.reason);
}

/* Files that were accepted before are not judged by the clock: setting it back does not bring older keys
 * back. */
static sotto_status take(sotto_device *device, bool *taken, sotto_bytes bytes, sotto_arena *arena,
                         sotto_err *err)
{
    const int64_t now = sotto_device_now(device);
    const sotto_parties *parties = NULL;
    uint64_t serial, last;
    sotto_logged logged;
    bool same;

    SOTTO_TRY(sotto_device_logged(device, &logged, bytes, SOTTO_ENTRY_PARTIES,
                                  sotto_bytes_of(NULL, 0), err));
    SOTTO_TRY(judge(device, &parties, &serial, &logged, arena, err));
    SOTTO_TRY(sotto_parties_taken_serial(device->ledger, &last, err));
    if (last < device->terms.serial) /* the application brought a later one */
        last = device->terms.serial;
    if (serial == last) {
        SOTTO_TRY(compare(device, &same, serial, logged.object, err));
        if (SOTTO_RULE(one_parties_file_a_serial) && !same)
            return sotto_fail(err, SOTTO_REJECTED,
                              "parties file: another one is known with serial %" PRIu64, serial);
        return SOTTO_OK;
    }
    if (SOTTO_RULE(parties_serial_grows) && serial < last)
        return sotto_fail(err, SOTTO_STALE, "parties file: serial %" PRIu64 " is known, and later",
                          last);
    if (SOTTO_RULE(parties_serial_not_ahead) && sotto_signed_parties_ahead(serial, now))
        return sotto_fail(err, SOTTO_DENIED,
                          "parties file: serial %" PRIu64
                          " is more than %d days ahead of the clock",
                          serial, (int)SOTTO_PARTIES_DAYS_AHEAD);
    SOTTO_TRY(sotto_parties_taken_put(device->ledger, serial, bytes, now, err));
    use(device, parties, serial, logged.object, arena);
    device->looked = serial;
    *taken = true;
    return SOTTO_OK;
}

sotto_status sotto_device_replace_parties(sotto_device *device, sotto_bytes signed_file,
                                          sotto_err *err)
{
    sotto_err_clear(err);

    const char *closed = sotto_ledger_closed(device->ledger);
    bool taken = false;
    sotto_arena arena;

    if (closed)
        return sotto_fail(err, SOTTO_DENIED, "%s", closed);
    sotto_arena_init(&arena, SOTTO_RECIPE_ARENA);
    sotto_status status = take(device, &taken, signed_file, &arena, err);
    if (!taken)
        sotto_arena_clear(&arena);
    return status;
}
