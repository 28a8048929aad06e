/* What a leader says to an upload (DAP draft 18, "Upload Response"; HTTP, RFC 9110). */
#include "base/rule.h"
#include "sotto/device.h"

/* Report errors by their names in the draft. The room that has the whole codec is the servers': a device carries one
 * entry's layout, an id and a byte. */
enum {
    BATCH_COLLECTED = 1,
    REPORT_REPLAYED,
    REPORT_DROPPED,
    HPKE_UNKNOWN_CONFIG_ID,
    HPKE_DECRYPT_ERROR,
    VDAF_VERIFY_ERROR,
    TASK_EXPIRED,
    INVALID_MESSAGE,
    REPORT_TOO_EARLY,
    TASK_NOT_STARTED,
    OUTDATED_CONFIG,
    CAUSES,
    ENTRY = SOTTO_REPORT_ID_SIZE + 1
};

static const sotto_delivery meanings[CAUSES] = {
    [0] = SOTTO_DELIVERY_LATER, /* reserved: says nothing */
    [BATCH_COLLECTED] = SOTTO_DELIVERY_REFUSED,
    /* It came before, and the answer to that was lost. */
    [REPORT_REPLAYED] = SOTTO_DELIVERY_ACCEPTED,
    [REPORT_DROPPED] = SOTTO_DELIVERY_REFUSED,
    /* So Janus, and sotto in its profile, name an outdated configuration. */
    [HPKE_UNKNOWN_CONFIG_ID] = SOTTO_DELIVERY_OUTDATED,
    [HPKE_DECRYPT_ERROR] = SOTTO_DELIVERY_REFUSED,
    [VDAF_VERIFY_ERROR] = SOTTO_DELIVERY_REFUSED,
    [TASK_EXPIRED] = SOTTO_DELIVERY_REFUSED,
    [INVALID_MESSAGE] = SOTTO_DELIVERY_REFUSED,
    [REPORT_TOO_EARLY] = SOTTO_DELIVERY_LATER,
    [TASK_NOT_STARTED] = SOTTO_DELIVERY_LATER,
    [OUTDATED_CONFIG] = SOTTO_DELIVERY_OUTDATED,
};

/* Only reports that failed are listed. What is no list of the draft's, such as a page that something on the way put in
 * the leader's place, acknowledges nothing; sending once more does no harm, since the leader knows the report's id. */
static sotto_delivery read_errors(sotto_bytes id, sotto_bytes errors)
{
    sotto_reader in = sotto_reader_over(errors);
    sotto_delivery others = SOTTO_DELIVERY_ACCEPTED;

    if (errors.len % ENTRY != 0 && SOTTO_RULE(strange_answers_wait))
        return SOTTO_DELIVERY_LATER;
    while (sotto_reader_left(&in) >= ENTRY) {
        sotto_bytes whose = sotto_read_bytes(&in, SOTTO_REPORT_ID_SIZE);
        uint64_t cause = sotto_read_uint(&in, 1);

        if (sotto_bytes_equal_vartime(whose, id))
            return cause < CAUSES ? meanings[cause] : SOTTO_DELIVERY_LATER;
        if ((cause == 0 || cause >= CAUSES) && SOTTO_RULE(strange_answers_wait))
            others = SOTTO_DELIVERY_LATER;
    }
    return others;
}

sotto_delivery sotto_delivery_of(const sotto_upload *upload, unsigned status, sotto_bytes answer)
{
    /* A DAP report begins with its id. */
    sotto_bytes id = sotto_bytes_of(upload->body.data, SOTTO_REPORT_ID_SIZE);

    if (upload->body.len < SOTTO_REPORT_ID_SIZE)
        return SOTTO_DELIVERY_LATER;
    if (status >= 200 && status < 300)
        return SOTTO_RULE(upload_errors_read) ? read_errors(id, answer) : SOTTO_DELIVERY_ACCEPTED;
    switch (status) {
    case 400: /* these say of the bytes, or of the task, that time will not help */
    case 410:
    case 413:
    case 422:
        return SOTTO_DELIVERY_REFUSED;
    default: /* 404 too: a leader may hear of a task after its devices did */
        return SOTTO_DELIVERY_LATER;
    }
}
