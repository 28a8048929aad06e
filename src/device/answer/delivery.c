#include "device/answer/delivery.h"

#include "base/rule.h"
#include "dap/upload.h"

static const sotto_delivery meanings[SOTTO_REPORT_ERRORS] = {
    [SOTTO_REPORT_BATCH_COLLECTED] = SOTTO_DELIVERY_REFUSED,
    /* The report arrived before, and the answer to it was lost. */
    [SOTTO_REPORT_REPLAYED] = SOTTO_DELIVERY_ACCEPTED,
    [SOTTO_REPORT_DROPPED] = SOTTO_DELIVERY_REFUSED,
    /* What Janus, and sotto in its profile, call an outdated configuration. */
    [SOTTO_REPORT_HPKE_UNKNOWN_CONFIG_ID] = SOTTO_DELIVERY_OUTDATED,
    [SOTTO_REPORT_HPKE_DECRYPT_ERROR] = SOTTO_DELIVERY_REFUSED,
    [SOTTO_REPORT_VDAF_VERIFY_ERROR] = SOTTO_DELIVERY_REFUSED,
    [SOTTO_REPORT_TASK_EXPIRED] = SOTTO_DELIVERY_REFUSED,
    [SOTTO_REPORT_INVALID_MESSAGE] = SOTTO_DELIVERY_REFUSED,
    [SOTTO_REPORT_TOO_EARLY] = SOTTO_DELIVERY_LATER,
    [SOTTO_REPORT_TASK_NOT_STARTED] = SOTTO_DELIVERY_LATER,
    [SOTTO_REPORT_OUTDATED_CONFIG] = SOTTO_DELIVERY_OUTDATED,
    [SOTTO_REPORT_TOKEN_INVALID] = SOTTO_DELIVERY_REFUSED,
    [SOTTO_REPORT_TOKEN_SPENT] = SOTTO_DELIVERY_REFUSED,
};

/* Only reports that failed are listed. Anything but the draft's list, such as a captive portal's page, acknowledges
 * nothing. */
static sotto_delivery read_errors(sotto_bytes id, sotto_bytes errors)
{
    sotto_delivery others = SOTTO_DELIVERY_ACCEPTED;
    sotto_dap_upload_errors list;
    sotto_dap_upload_status one;
    const sotto_status status = sotto_dap_upload_errors_decode(&list, errors, NULL);
    sotto_reader in = sotto_reader_over(list.statuses);

    if (SOTTO_RULE(strange_answers_wait) && status != SOTTO_OK)
        return SOTTO_DELIVERY_LATER;
    while (sotto_dap_upload_errors_next(&in, &one)) {
        const bool unknown = one.error == 0 || one.error >= SOTTO_REPORT_ERRORS;
        const bool ours =
            sotto_bytes_equal_vartime(sotto_bytes_of(one.report_id, sizeof one.report_id), id);

        if (ours)
            return unknown ? SOTTO_DELIVERY_LATER : meanings[one.error];
        if (SOTTO_RULE(strange_answers_wait) && unknown)
            others = SOTTO_DELIVERY_LATER;
    }
    return others;
}

/* A leader may send an empty answer without a media type. */
static bool is_list(const sotto_exchange_answer *answer)
{
    if (answer->body.len == 0 && answer->media_type[0] == '\0')
        return true;
    return sotto_dap_media_type_is(SOTTO_DAP_UPLOAD_ERRORS, answer->media_type);
}

sotto_delivery sotto_delivery_of(sotto_bytes id, const sotto_exchange_answer *answer)
{
    switch (answer->status) {
    case 400: /* errors of the bytes or of the task, for which a retry does not help */
    case 410:
    case 413:
    case 422:
        return SOTTO_DELIVERY_REFUSED;
    default:
        break;
    }
    /* 404 too: a leader may learn of a task later than its devices. */
    if (answer->status < 200 || answer->status > 299)
        return SOTTO_DELIVERY_LATER;
    if (SOTTO_RULE(upload_errors_by_type) && !is_list(answer))
        return SOTTO_DELIVERY_LATER;
    return read_errors(id, sotto_buf_bytes(&answer->body));
}
