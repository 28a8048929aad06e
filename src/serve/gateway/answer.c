/* Answers of the gateway. What is sealed is padded, so that a relay learns little from its length. */
#include "serve/gateway/gateway.h"

#include "base/alloc.h"
#include "sotto/random.h"

#include <string.h>

enum { BESIDE = 64 }; /* what Binary HTTP has beside fields and content, at most */

static void end(sotto_gateway_ask *ask)
{
    sotto_release(ask, sizeof *ask);
}

/* Without a seal: there is none yet, or no memory for it. */
static void refuse(const sotto_gateway_ask *ask, const sotto_http_problem *problem)
{
    uint8_t text[512];
    sotto_buf out = sotto_buf_over(text, sizeof text);

    if (!ask->batch) {
        (void)sotto_http_refuse(ask->request, problem);
        return;
    }
    if (sotto_http_problem_encode(&out, problem, NULL) != SOTTO_OK)
        out.len = 0;
    sotto_gateway_batch_put(ask->batch, ask->place, problem->status, sotto_buf_bytes(&out));
}

void sotto_gateway_refuse(sotto_gateway_ask *ask, unsigned status, const char *type,
                          const char *detail)
{
    atomic_fetch_add(&ask->gateway->plain_errors, 1);
    refuse(ask, &(sotto_http_problem){.status = status,
                                      .type = type,
                                      .detail = detail,
                                      .retry_after_s = status == 503 ? 1 : 0});
    end(ask);
}

static sotto_status seal(const sotto_gateway_ask *ask, sotto_buf *out, sotto_buf *plain,
                         const sotto_bhttp *answer, size_t size, sotto_err *err)
{
    uint8_t random[SOTTO_OHTTP_NONCE];

    SOTTO_TRY(sotto_bhttp_encode(plain, answer, size, err));
    SOTTO_TRY(sotto_random_bytes(random, sizeof random, err));
    return sotto_ohttp_response_seal(&ask->exchange, out, NULL, random, sotto_buf_bytes(plain),
                                     err);
}

void sotto_gateway_answer(sotto_gateway_ask *ask, const sotto_bhttp *answer)
{
    static const sotto_http_field fields[] = {{"Content-Type", SOTTO_OHTTP_RESPONSE_TYPE},
                                              {"Cache-Control", "no-store"}};
    const size_t pad = ask->gateway->config.answer_pad;
    const size_t least = answer->fields.len + answer->content.len + BESIDE;
    const size_t size = (least + pad - 1) / pad * pad, room = size + SOTTO_OHTTP_OVERHEAD;
    uint8_t *memory = sotto_alloc(size + room);
    sotto_buf plain = sotto_buf_over(memory, size), out = sotto_buf_over(NULL, 0);

    if (memory)
        out = sotto_buf_over(memory + size, room);
    if (!memory || seal(ask, &out, &plain, answer, size, NULL) != SOTTO_OK)
        refuse(ask, &(sotto_http_problem){.status = 503});
    else if (ask->batch)
        sotto_gateway_batch_put(ask->batch, ask->place, 200, sotto_buf_bytes(&out));
    else
        sotto_http_answer(ask->request, &(sotto_http_reply){200, fields, 2, sotto_buf_bytes(&out)});
    sotto_release(memory, memory ? size + room : 0);
    end(ask);
}

void sotto_gateway_refuse_sealed(sotto_gateway_ask *ask, unsigned status, const char *type,
                                 const char *detail)
{
    static const char media_type[] = SOTTO_HTTP_PROBLEM_TYPE;
    const char *made_here = status == 502 ? "sotto-gateway; error=destination_unavailable"
                                          : "sotto-gateway; error=proxy_internal_response";
    uint8_t text[512], lines[160];
    sotto_buf problem = sotto_buf_over(text, sizeof text);
    sotto_buf field = sotto_buf_over(lines, sizeof lines);
    sotto_writer w = sotto_writer_on(&field);

    atomic_fetch_add(&ask->gateway->sealed_errors, 1);
    sotto_bhttp_field_write(&w, "content-type", sotto_bytes_of(media_type, sizeof media_type - 1));
    sotto_bhttp_field_write(&w, SOTTO_OHTTP_GATEWAY_FIELD,
                            sotto_bytes_of(made_here, strlen(made_here)));
    if (sotto_writer_finish(&w, "field", NULL) != SOTTO_OK ||
        sotto_http_problem_encode(
            &problem, &(sotto_http_problem){.status = status, .type = type, .detail = detail},
            NULL) != SOTTO_OK)
        problem.len = 0;
    sotto_gateway_answer(ask, &(sotto_bhttp){.response = true,
                                             .status = status,
                                             .fields = sotto_buf_bytes(&field),
                                             .content = sotto_buf_bytes(&problem)});
}
