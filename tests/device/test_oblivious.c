/* A device whose parties name a relay and a gateway: what its host sees, and what it believes of what comes back. */
#include "device/oblivious.h"
#include "device/shared.h"
#include "seal/hpke/ephemerals.h"
#include "seal/ohttp/bhttp.h"
#include "seal/ohttp/ohttp.h"
#include "support/devices.h"

#include <stdio.h>
#include <string.h>

enum { KEY_ID = 77, ROOM = 1 << 16 };

static const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                       SOTTO_HPKE_AEAD_AES128_GCM};
static sotto_test_phone phone;

/* The relay and the gateway behind it, in one: what the host's exchange is. */
typedef struct network {
    sotto_status (*leader)(void *context, sotto_exchange *exchange);
    void *leader_context;
    /* habits */
    bool plain;         /* the relay answers by itself, as a leader would that takes the report  */
    bool typed_plain;   /* the same under the media type of sealed answers                       */
    bool flips;         /* a bit of the sealed answer                                             */
    bool answers_first; /* the first answer to every request                                      */
    bool asks;          /* a request in place of an answer is sealed                              */
    unsigned status;    /* of the relay's own; 0: 200                                             */
    unsigned gateway;   /* status of an error of the gateway's own, sealed; 0: the leader's       */
    /* what was seen */
    size_t calls, length[16], first_len;
    char date[16][30], url[128], inner_url[200];
    uint8_t first[ROOM];
} network;

static network net;

/* ---- what the gateway asks the leader ------------------------------------------------------------------------------ */

typedef struct inner {
    sotto_bytes body;
    unsigned status;
    char type[128];
    sotto_buf answer;
    uint8_t memory[512];
} inner;

static sotto_status inner_read(sotto_exchange *exchange, uint64_t offset, uint8_t *out, size_t room,
                               size_t *len)
{
    const inner *in = exchange->state;
    const size_t left = offset < in->body.len ? in->body.len - (size_t)offset : 0;

    *len = room < left ? room : left;
    if (*len > 0)
        memcpy(out, in->body.data + offset, *len);
    return SOTTO_OK;
}

static sotto_status inner_begin(sotto_exchange *exchange, const sotto_exchange_head *head)
{
    inner *in = exchange->state;

    in->status = head->status;
    (void)snprintf(in->type, sizeof in->type, "%s", head->media_type ? head->media_type : "");
    return SOTTO_OK;
}

static sotto_status inner_take(sotto_exchange *exchange, const uint8_t *piece, size_t len)
{
    inner *in = exchange->state;
    sotto_writer w = sotto_writer_on(&in->answer);

    sotto_write_bytes(&w, sotto_bytes_of(piece, len));
    return sotto_writer_finish(&w, "answer", NULL);
}

static void ask_leader(inner *in, const sotto_bhttp *m, const char *recipe)
{
    sotto_bytes type = {NULL, 0}, date = {NULL, 0};
    sotto_test *t = phone.t;
    char media_type[128];

    CHECK(t, sotto_bhttp_field(m->fields, "content-type", &type));
    CHECK(t, sotto_bhttp_field(m->fields, "date", &date) && date.len == 29);
    (void)snprintf(media_type, sizeof media_type, "%.*s", (int)type.len, (const char *)type.data);
    (void)snprintf(net.date[net.calls % 16], 30, "%.29s", (const char *)date.data);
    (void)snprintf(net.inner_url, sizeof net.inner_url, "%.*s://%.*s%.*s", (int)m->scheme.len,
                   (const char *)m->scheme.data, (int)m->authority.len,
                   (const char *)m->authority.data, (int)m->path.len, (const char *)m->path.data);
    in->body = m->content;
    in->answer = sotto_buf_over(in->memory, sizeof in->memory);
    CHECK_EQUAL(t, SOTTO_OK,
                net.leader(net.leader_context, &(sotto_exchange){.size = sizeof(sotto_exchange),
                                                                 .method = "POST",
                                                                 .url = net.inner_url,
                                                                 .media_type = media_type,
                                                                 .body_length = m->content.len,
                                                                 .most_answer = 512,
                                                                 .recipe = recipe,
                                                                 .read = inner_read,
                                                                 .begin = inner_begin,
                                                                 .take = inner_take,
                                                                 .state = in}));
}

/* ---- the gateway ------------------------------------------------------------------------------------------------------ */

static sotto_hpke_key gateway_key(sotto_test *t)
{
    static const uint8_t ikm[32] = {KEY_ID};
    sotto_hpke_key key;

    CHECK_OK(t, sotto_hpke_key_derive(&key, suite.kem, sotto_bytes_of(ikm, sizeof ikm), &t->err));
    return key;
}

static void answer_sealed(sotto_buf *out, sotto_bytes wire, const char *recipe)
{
    static const uint8_t random[SOTTO_OHTTP_NONCE] = {1, 2};
    static uint8_t plain[ROOM], lines[200], message[ROOM];
    sotto_test *t = phone.t;
    sotto_buf opened = sotto_buf_over(plain, ROOM), fields = sotto_buf_over(lines, sizeof lines);
    sotto_buf sealed = sotto_buf_over(message, ROOM);
    sotto_writer w = sotto_writer_on(&fields);
    uint8_t info[SOTTO_OHTTP_INFO];
    const sotto_hpke_key key = gateway_key(t);
    sotto_hpke_receiver *receiver;
    sotto_ohttp_exchange exchange;
    sotto_ohttp_request request;
    inner in = {.status = 0};
    sotto_bhttp m;

    sotto_ohttp_info(info, KEY_ID, suite);
    CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &key, suite, sotto_bytes_of(info, sizeof info),
                                        &t->err));
    CHECK_OK(t, sotto_ohttp_request_read(&request, wire, &t->err));
    CHECK_EQUAL(t, KEY_ID, request.key_id);
    CHECK_OK(t, sotto_ohttp_request_unseal(&exchange, &opened, receiver, &request,
                                           &(sotto_agreement){.peer = request.enc}, &t->err));
    sotto_hpke_receiver_free(receiver);
    CHECK_OK(t, sotto_bhttp_decode(&m, plain, opened.len, &t->err));
    ask_leader(&in, &m, recipe);
    if (in.type[0])
        sotto_bhttp_field_write(&w, "content-type", sotto_bytes_of(in.type, strlen(in.type)));
    CHECK_OK(t, sotto_writer_finish(&w, "fields", &t->err));
    sotto_bhttp answer = {.response = true,
                          .status = in.status,
                          .fields = sotto_buf_bytes(&fields),
                          .content = sotto_buf_bytes(&in.answer)};
    if (net.gateway) {
        sotto_bhttp_field_write(&w, SOTTO_OHTTP_GATEWAY_FIELD, sotto_bytes_of("gateway", 7));
        CHECK_OK(t, sotto_writer_finish(&w, "fields", &t->err));
        answer.fields = sotto_buf_bytes(&fields);
        answer.status = net.gateway;
    }
    if (net.asks)
        answer = (sotto_bhttp){.method = sotto_bytes_of("GET", 3), .status = 200};
    CHECK_OK(t, sotto_bhttp_encode(&sealed, &answer, 1024, &t->err));
    CHECK_OK(t, sotto_ohttp_response_seal(&exchange, out, NULL, random, sotto_buf_bytes(&sealed),
                                          &t->err));
}

/* ---- the host ---------------------------------------------------------------------------------------------------------- */

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    static uint8_t body[ROOM], memory[ROOM];
    sotto_buf out = sotto_buf_over(memory, ROOM);
    sotto_exchange_head head = {
        .size = sizeof head, .status = 200, .media_type = SOTTO_OHTTP_RESPONSE_TYPE};
    sotto_test *t = phone.t;
    size_t len = 0;

    (void)context;
    CHECK(t, strcmp(exchange->method, "POST") == 0 && exchange->field_count == 0);
    CHECK(t, strcmp(exchange->media_type, SOTTO_OHTTP_REQUEST_TYPE) == 0);
    (void)snprintf(net.url, sizeof net.url, "%s", exchange->url);
    for (size_t at = 0; at < exchange->body_length; at += len)
        CHECK_EQUAL(t, SOTTO_OK, exchange->read(exchange, at, body + at, ROOM - at, &len));
    net.length[net.calls % 16] = (size_t)exchange->body_length;
    answer_sealed(&out, sotto_bytes_of(body, (size_t)exchange->body_length), exchange->recipe);
    if (net.calls++ == 0) {
        memcpy(net.first, memory, out.len);
        net.first_len = out.len;
    }
    if (net.answers_first)
        memcpy(memory, net.first, net.first_len);
    if (net.plain || net.typed_plain || net.status)
        out.len = 0;
    if (net.plain || net.status)
        head.media_type = NULL;
    if (net.status)
        head.status = net.status;
    memory[40] ^= net.flips;
    SOTTO_TRY(exchange->begin(exchange, &head));
    return exchange->take(exchange, memory, out.len);
}

/* The test's parties with these two; NULL: without a relay, or with a gateway whose key is no longer in use. */
static sotto_bytes parties(sotto_test *t, const char *relay, const char *until)
{
    const sotto_bytes servers = sotto_test_server_parties(t, 1);
    const sotto_hpke_key key = gateway_key(t);
    const sotto_hpke_config config = sotto_hpke_config_of(&key, KEY_ID, suite.kdf, suite.aead);
    uint8_t wire[64];
    sotto_buf encoded = sotto_buf_over(wire, sizeof wire);
    char *out = sotto_test_take(t, 8192);
    size_t used = servers.len - 1;

    memcpy(out, servers.data, used); /* without its last brace */
    if (relay)
        used += (size_t)snprintf(out + used, 8192 - used,
                                 ", \"relay\": {\"role\": \"relay\", \"url\": \"%s\"}", relay);
    CHECK_OK(t, sotto_hpke_config_encode(&encoded, &config, &t->err));
    used += (size_t)snprintf(out + used, 8192 - used,
                             ", \"gateway\": {\"role\": \"gateway\", \"url\": "
                             "\"https://gateway.example/\", \"hpke\": [{\"config\": \"");
    for (size_t i = 0; i < encoded.len; i++)
        used += (size_t)snprintf(out + used, 8192 - used, "%02x", wire[i]);
    used +=
        (size_t)snprintf(out + used, 8192 - used,
                         "\", \"from\": \"2026-01-01T00:00:00Z\", \"until\": \"%s\"}]}}", until);
    return sotto_bytes_of(out, used);
}

static const char RELAY[] = "https://relay.example/gateway-1", LATER[] = "2028-01-01T00:00:00Z";

static void start(sotto_test *t, sotto_bytes with)
{
    const network before = net; /* habits */

    sotto_test_phone_init(t, &phone, sotto_test_generous_policy);
    net = before;
    net.calls = 0;
    net.leader = phone.options.host.exchange;
    net.leader_context = &phone;
    phone.options.host.exchange = carry;
    phone.options.parties = with;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
}

static void offer(sotto_test *t, const char *name)
{
    CHECK_OK(
        t, sotto_device_offer(phone.device, sotto_test_sure_recipe(t, name, NULL, NULL), &t->err));
}

static uint64_t acknowledged(void)
{
    return sotto_test_lines(&phone, NULL, SOTTO_RECORD_ACKNOWLEDGED);
}

static uint64_t given_up(void)
{
    return sotto_test_lines(&phone, NULL, SOTTO_RECORD_GIVEN_UP);
}

static void a_report_goes_through_the_relay(sotto_test *t)
{
    net = (network){0};
    start(t, parties(t, RELAY, LATER));
    offer(t, "50001");
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, acknowledged());
    CHECK(t, strcmp(net.url, RELAY) == 0);
    CHECK(t, strncmp(net.inner_url, "https://leader.example.com/tasks/", 33) == 0);
    CHECK_EQUAL(t, 1, phone.uploads); /* the leader got it, as it would have directly */
    CHECK_EQUAL(t, 5880, phone.uploaded[0].body.len);
    sotto_test_phone_close(&phone);
}

typedef struct counted {
    sotto_ephemerals *stock;
    unsigned taken;
} counted;

static sotto_status take_counted(void *context, sotto_ephemeral *out, const sotto_hpke_config *to,
                                 sotto_err *err)
{
    counted *c = context;

    c->taken++;
    return sotto_ephemerals_take(c->stock, out, to, err);
}

/* Leader, helper and gateway; the latter opens what it gets as any other request. */
static void a_simulated_device_seals_for_the_gateway_with_keys_from_outside(sotto_test *t)
{
    counted c = {.stock = sotto_ephemerals_new()};
    sotto_device_shared *shared = sotto_device_shared_new();

    CHECK(t, c.stock && shared);
    sotto_shared_seal_with(shared, (sotto_ephemeral_source){take_counted, &c});
    net = (network){0};
    start(t, parties(t, RELAY, LATER));
    sotto_test_phone_close(&phone);
    phone.options.shared = shared;
    phone.options.simulation = NULL;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_test_phone_type(&phone, 1, 35, "i went home"));
    offer(t, "50001");
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, acknowledged());
    CHECK_EQUAL(t, 1, phone.uploads);
    CHECK_EQUAL(t, 3, c.taken);
    sotto_test_phone_close(&phone);
    sotto_device_shared_free(shared);
    sotto_ephemerals_free(c.stock);
}

/* Reports on a value, on none, and dummies; whatever the recipe's name and the time are. */
static void all_requests_have_one_length(sotto_test *t)
{
    static const char *const names[] = {"50001", "50002", "500030", "5"};

    net = (network){0};
    start(t, parties(t, RELAY, LATER));
    for (size_t i = 0; i < 4; i++) {
        offer(t, names[i]);
        CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
        phone.now += 3601;
    }
    CHECK_EQUAL(t, 4, net.calls);
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQUAL(t, net.length[0], net.length[i]);
        CHECK(t, memcmp(net.date[i] + 23, "00 GMT", 6) == 0); /* no seconds */
    }
    CHECK_EQUAL(t, 0, (net.length[0] - 7 - 32 - 16) % SOTTO_OBLIVIOUS_PAD);
    sotto_test_phone_close(&phone);
}

static void a_dummy_has_the_length_of_an_answer(sotto_test *t)
{
    sotto_bytes rare = sotto_test_sure_recipe(t, "50002", "\"rate\": 1", "\"rate\": 0.0000005");

    rare = sotto_test_replace(t, (const char *)rare.data, "\"population\": 1000000",
                              "\"population\": 100000000000");
    rare = sotto_test_replace(t, (const char *)rare.data, "\"on_no_match\"",
                              "\"dummies\": 1, \"on_no_match\"");
    net = (network){0};
    start(t, parties(t, RELAY, LATER));
    offer(t, "50001");
    CHECK_OK(t, sotto_device_offer(phone.device, rare, &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_DUMMY));
    CHECK_EQUAL(t, 2, net.calls);
    CHECK_EQUAL(t, net.length[0], net.length[1]);
    sotto_test_phone_close(&phone);
}

/* ---- a recipe that asks for a relay --------------------------------------------------------------------------------- */

static sotto_bytes asking(sotto_test *t, const char *name, const char *relay, const char *gateway)
{
    char text[128];

    (void)snprintf(text, sizeof text,
                   "\"anonymity\": {\"relay\": \"%s\", \"gateway\": \"%s\"}, \"population\"", relay,
                   gateway);
    return sotto_test_sure_recipe(t, name, "\"population\"", text);
}

static bool why_parties(sotto_test *t, const char *recipe, const char *sentence)
{
    sotto_explanation why;

    CHECK_OK(t, sotto_device_why(phone.device, &why, recipe, &t->err));
    return why.why == SOTTO_WHY_PARTIES && strstr(why.sentence, sentence);
}

static void a_recipe_gets_the_relay_that_it_asks_for(sotto_test *t)
{
    net = (network){0};
    start(t, parties(t, RELAY, LATER));
    CHECK_OK(t, sotto_device_offer(phone.device, asking(t, "a", "relay", "gateway"), &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, asking(t, "b", "another", "gateway"), &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, acknowledged());
    CHECK_EQUAL(t, 1, net.calls);
    CHECK(t, strncmp(net.inner_url, "https://leader.example.com/tasks/", 33) == 0);
    CHECK(t, why_parties(t, "b", "the parties have no relay \"another\" with gateway \"gateway\""));
    sotto_test_phone_close(&phone);
}

static void without_a_relay_such_a_recipe_is_not_answered(sotto_test *t)
{
    net = (network){0};
    start(t, sotto_test_server_parties(t, 1));
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, asking(t, "a", "relay", "gateway"), &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, why_parties(t, "a", "the parties have no relay \"relay\""));
    phone.options.parties =
        parties(t, RELAY, "2026-02-01T00:00:00Z"); /* the gateway's key is old */
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, why_parties(t, "a", "which this device does not use now"));
    CHECK_EQUAL(t, 0, net.calls);
    sotto_test_phone_close(&phone);
}

/* The application is updated to one whose parties have no relay, while a report waits. */
static void a_report_that_asked_for_a_relay_never_goes_directly(sotto_test *t)
{
    net = (network){.plain = true};
    start(t, parties(t, RELAY, LATER));
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, asking(t, "a", "relay", "gateway"), &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    phone.options.parties = sotto_test_server_parties(t, 1);
    phone.options.host.exchange = net.leader;
    phone.uploads = 0;
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 0, phone.uploads);
    sotto_test_phone_close(&phone);
}

/* ... or whose parties have another relay first, which may be whose operator has the gateway, too. */
static void a_report_that_asked_for_a_relay_goes_through_no_other(sotto_test *t)
{
    const sotto_bytes before = parties(t, RELAY, LATER);

    net = (network){.plain = true};
    start(t, before);
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, asking(t, "a", "relay", "gateway"), &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    net = (network){.leader = net.leader, .leader_context = net.leader_context};
    phone.options.parties = sotto_test_replace(
        t, (const char *)before.data, "\"relay\": {",
        "\"other\": {\"role\": \"relay\", \"url\": \"https://relay.example/gateway-1\"}, "
        "\"relay\": {");
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 0, net.calls);
    phone.options.parties = before;
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, acknowledged());
    sotto_test_phone_close(&phone);
}

static void what_the_leader_says_is_believed_sealed(sotto_test *t)
{
    net = (network){0};
    start(t, parties(t, RELAY, LATER));
    phone.answer = SOTTO_DELIVERY_REFUSED;
    offer(t, "50001");
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, given_up());
    sotto_test_phone_close(&phone);
}

/* The report waits, and goes once the network behaves. */
static void check_waits(sotto_test *t, network habits)
{
    net = habits;
    start(t, parties(t, RELAY, LATER));
    offer(t, "50001");
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 0, acknowledged() + given_up());
    net.plain = net.typed_plain = net.flips = net.asks = false;
    net.status = net.gateway = 0;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, acknowledged());
    sotto_test_phone_close(&phone);
}

static void a_relay_can_not_answer_for_a_leader(sotto_test *t)
{
    static const unsigned statuses[] = {201, 400, 403, 404, 410, 500, 503};

    check_waits(t, (network){.plain = true});
    check_waits(t, (network){.typed_plain = true});
    check_waits(t, (network){.flips = true});
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        check_waits(t, (network){.status = statuses[i]});
}

/* A gateway that was started again, or that has another time, seals errors which a leader would mean for good. */
static void an_error_of_the_gateways_own_is_not_the_last_word(sotto_test *t)
{
    static const unsigned statuses[] = {400, 403, 405, 409, 410, 413, 422, 502, 503};

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        check_waits(t, (network){.gateway = statuses[i]});
}

static void a_request_is_no_answer(sotto_test *t)
{
    check_waits(t, (network){.asks = true});
}

/* A relay that gives an old answer to a new request. */
static void an_answer_is_for_its_request(sotto_test *t)
{
    net = (network){.answers_first = true};
    start(t, parties(t, RELAY, LATER));
    offer(t, "50001");
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).waiting);
    offer(t, "50002");
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 1, acknowledged());
    sotto_test_phone_close(&phone);
}

/* Neither is left out because the other is missing, or has no key. */
static void without_a_whole_way_nothing_leaves(sotto_test *t)
{
    net = (network){0};
    start(t, parties(t, NULL, LATER));
    offer(t, "50001");
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 0, net.calls);
    sotto_test_phone_close(&phone);
    start(t, parties(t, RELAY, "2026-02-01T00:00:00Z"));
    offer(t, "50001");
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting);
    CHECK_EQUAL(t, 0, net.calls);
    sotto_test_phone_close(&phone);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_report_goes_through_the_relay),
        CASE(a_simulated_device_seals_for_the_gateway_with_keys_from_outside),
        CASE(all_requests_have_one_length),
        CASE(a_dummy_has_the_length_of_an_answer),
        CASE(a_recipe_gets_the_relay_that_it_asks_for),
        CASE(without_a_relay_such_a_recipe_is_not_answered),
        CASE(a_report_that_asked_for_a_relay_never_goes_directly),
        CASE(a_report_that_asked_for_a_relay_goes_through_no_other),
        CASE(what_the_leader_says_is_believed_sealed),
        CASE(a_relay_can_not_answer_for_a_leader),
        CASE(a_request_is_no_answer),
        CASE(an_error_of_the_gateways_own_is_not_the_last_word),
        CASE(an_answer_is_for_its_request),
        CASE(without_a_whole_way_nothing_leaves),
    };

    return RUN_TESTS(argc, argv, cases);
}
