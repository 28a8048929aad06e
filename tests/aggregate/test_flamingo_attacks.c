/* What a hostile server tries, and the check that stops it. tests/rules.sh switches each check off and sees the attack succeed. */
#include "camp.h"

#include "aggregate/shared/mask.h"
#include "crypto/hash.h"

#include <string.h>

/* Seven clients, everybody's neighbour everybody; seven decryptors: three open, five are a quorum. Client 0 is the victim. */
static const camp_plan SEVEN = {.clients = 7, .members = 7, .least = 5};
enum { ALL = 0x7f, NOT_0 = 0x7e, FIRST = 0x07, LAST = 0x70 };

static void play(sotto_test *t, camp *s, camp_plan plan)
{
    camp_open(t, s, plan);
    camp_report_all(s);
}

/* The yardstick: an honest end opens one mask of each client, and no vector. */
static void an_honest_end_opens_no_single_vector(sotto_test *t)
{
    static camp s;
    uint8_t seed[32];

    play(t, &s, SEVEN);
    camp_show_all(&s, ALL, NOT_0);
    camp_ask_set(&s, (camp_question){
                         .labels = NOT_0, .shares = NOT_0, .from = NOT_0, .to = 1, .set = FIRST});
    CHECK_EQUAL(t, 3, s.answers);
    for (uint32_t i = 0; i < 7; i++) {
        CHECK(t, camp_knows_self(&s, i, seed) == (i != 0));
        CHECK(t, camp_knows_edge(&s, i, 0, seed) == (i != 0));
        CHECK(t, !camp_reads(&s, i));
    }
    camp_close(&s);
}

/* The lecture's "why both masks": client 0 was called offline, its pair masks were opened, and its vector comes after all. */
static void a_late_vector_stays_masked(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    camp_show_all(&s, ALL, NOT_0);
    camp_ask_set(&s, (camp_question){.labels = NOT_0, .from = NOT_0, .to = 1, .set = FIRST});
    CHECK(t, !camp_reads(&s, 0));
    camp_close(&s);
}

static void self_masks_of_offline_clients_stay_shut(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    camp_show_all(&s, ALL, NOT_0);
    camp_ask_set(
        &s, (camp_question){.labels = NOT_0, .shares = 1, .from = NOT_0, .to = 1, .set = FIRST});
    CHECK(t, !camp_reads(&s, 0));
    camp_close(&s);
}

static void edges_between_online_clients_stay_shut(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    camp_show_all(&s, ALL, ALL);
    camp_ask_set(
        &s, (camp_question){.labels = ALL, .shares = ALL, .from = 1, .to = NOT_0, .set = FIRST});
    CHECK(t, !camp_reads(&s, 0));
    camp_close(&s);
}

/* "Online" to some and "offline" to others. */
static void split_labels(camp *s, bool forge, bool twice)
{
    camp_show_all(s, 0x0f, ALL);
    camp_show_all(s, 0x70, NOT_0);
    camp_ask_set(
        s, (camp_question){
               .labels = ALL, .shares = ALL, .set = FIRST, .forge_votes = forge, .twice = twice});
    camp_ask_set(s, (camp_question){.labels = NOT_0,
                                    .from = NOT_0,
                                    .to = 1,
                                    .set = LAST,
                                    .forge_votes = forge,
                                    .twice = twice});
}

static void two_labels_at_once_open_nothing(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    split_labels(&s, false, false);
    CHECK(t, !camp_reads(&s, 0));
    CHECK_EQUAL(t, 0, s.answers);
    camp_close(&s);
}

static void votes_can_not_be_made_up(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    split_labels(&s, true, false);
    CHECK(t, !camp_reads(&s, 0));
    camp_close(&s);
}

static void a_vote_counts_once(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    split_labels(&s, false, true);
    CHECK(t, !camp_reads(&s, 0));
    camp_close(&s);
}

/* The server's own clients vote, though nobody drew them. */
static void strangers_do_not_vote(sotto_test *t)
{
    static camp s;
    camp_plan eight = {.clients = 8, .members = 4, .least = 5}; /* two open, three are a quorum */

    play(t, &s, eight);
    s.strangers = 0xff;
    camp_show_all(&s, 0x3, 0xff);
    camp_show_all(&s, 0xc, 0xfe);
    camp_ask_set(&s, (camp_question){.labels = 0xff, .shares = 0xff, .set = 0x3});
    camp_ask_set(&s, (camp_question){.labels = 0xfe, .from = 0xfe, .to = 1, .set = 0xc});
    CHECK(t, !camp_reads(&s, 0));
    camp_close(&s);
}

/* One corrupt decryptor votes twice: five of seven for one view. The two others are shown that quorum, though they saw another. */
static void others_votes_open_nothing(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    camp_show_all(&s, 0x4f, ALL);
    camp_ask_set(&s, (camp_question){.labels = ALL, .shares = ALL, .set = FIRST});
    camp_forget(&s, 6);
    camp_show_all(&s, 0x70, NOT_0);
    camp_ask_set(&s, (camp_question){.labels = ALL, .from = NOT_0, .to = 1, .set = LAST});
    CHECK(t, !camp_reads(&s, 0));
    camp_close(&s);
}

static void a_decryptor_signs_once(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    camp_show_all(&s, ALL, ALL);
    camp_ask_set(&s, (camp_question){.labels = ALL, .shares = ALL, .set = FIRST});
    camp_show_all(&s, ALL, NOT_0);
    camp_ask_set(&s, (camp_question){.labels = NOT_0, .from = NOT_0, .to = 1, .set = LAST});
    CHECK(t, !camp_reads(&s, 0));
    CHECK(t, camp_show(&s, 0, ALL) == SOTTO_STALE); /* the same again is merely old */
    camp_close(&s);
}

/* A decryptor that comes back from a backup remembers no vote. Its vow does: no store takes the second. */
static void what_a_backup_forgets_vows_remember(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    CHECK(t, camp_show(&s, 0, ALL) == SOTTO_OK);
    sotto_vow first = s.vow;
    camp_forget(&s, 0);
    CHECK(t, camp_show(&s, 0, NOT_0) == SOTTO_OK);
    CHECK(t, s.vow.kind == first.kind && s.vow.epoch == first.epoch && s.vow.round == first.round &&
                 s.vow.subject == first.subject);
    CHECK(t, memcmp(s.vow.digest, first.digest, 32) != 0);
    camp_close(&s);
}

static void a_sum_over_a_handful_is_not_opened(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    camp_show_all(&s, ALL, 0x0f);
    camp_ask_set(&s, (camp_question){
                         .labels = 0x0f, .shares = 0x0f, .from = 0x0f, .to = LAST, .set = FIRST});
    CHECK(t, !camp_sums(&s, 0x0f, 0));
    CHECK_EQUAL(t, 0, s.answers);
    camp_close(&s);
}

static void reports_can_not_be_made_up(sotto_test *t)
{
    static camp s;

    camp_open(t, &s, SEVEN);
    for (uint32_t i = 1; i < 7; i++)
        CHECK(t, camp_report(&s, i));
    camp_show_all(&s, ALL, ALL); /* client 0 never reported */
    CHECK_EQUAL(t, 0, s.voted[0]);
    camp_close(&s);
}

/* The server's client signs a report, though nobody drew it. */
static uint32_t report_uninvited(sotto_test *t, camp *s)
{
    static uint8_t body[4], signature[SOTTO_SIGNATURE];
    sotto_message m = {.kind = SOTTO_FLAMINGO_REPORT, .to = SOTTO_TO_SERVER};

    while (sotto_flamingo_place(&s->graph, m.from) >= 0)
        m.from++;
    CHECK(t, !camp_report(s, m.from)); /* an honest one does not */
    m.epoch = s->c.round.epoch;
    m.round = s->c.round.number;
    m.bulk_len = (uint64_t)4 * CAMP_LENGTH;
    memcpy(m.session, s->c.round.session, 32);
    m.body = sotto_bytes_of(body, sizeof body);
    CHECK_OK(t, sotto_message_sign(&m, signature, &s->c.cast.clients[m.from], &t->err));
    s->report[m.from] = m.body;
    s->signature[m.from] = m.signature;
    return m.from;
}

/* Five are the least. One of those drawn is called offline, and a client of the server's is counted in its place. */
static void the_cohort_is_the_beacons(sotto_test *t)
{
    static camp s;
    camp_plan plan = {.clients = 8, .members = 7, .least = 5, .cohort = 5};
    uint32_t four = 0;

    play(t, &s, plan);
    for (uint32_t i = 0; i < 4; i++)
        four |= UINT32_C(1) << s.graph.cohort[i];
    const uint32_t last = UINT32_C(1) << s.graph.cohort[4];
    const uint32_t labels = four | UINT32_C(1) << report_uninvited(t, &s);
    camp_show_all(&s, ALL, labels);
    camp_ask_set(&s, (camp_question){
                         .labels = labels, .shares = four, .from = four, .to = last, .set = FIRST});
    CHECK(t, !camp_sums(&s, four, 0));
    CHECK_EQUAL(t, 0, s.voted[0]);
    CHECK(t, camp_show(&s, 0, four | last) == SOTTO_OK);
    camp_close(&s);
}

/* Among all sets of online clients, one with these properties; 0: none. */
static uint32_t find_set(sotto_test *t, camp *s, uint32_t least, bool whole)
{
    for (uint32_t online = 0xff; online > 0; online--) {
        uint8_t bits[1] = {(uint8_t)online};
        uint32_t found;
        bool hangs;

        if (sotto_bits_count(bits, 1) < s->c.round.least)
            continue;
        CHECK_OK(t, sotto_flamingo_judge(&s->graph, bits, &found, &hangs, &t->arena, &t->err));
        if (found == least && hangs == whole)
            return online;
    }
    return 0;
}

static void sparse(sotto_test *t, camp *s, uint32_t neighbours, uint32_t least, bool whole,
                   uint32_t *online)
{
    camp_plan plan = {.clients = 8,
                      .members = 7,
                      .least = 4,
                      .neighbours = neighbours,
                      .edge = UINT64_MAX / 5 * 2};
    bool found = false;

    /* Some beacon gives a graph in which everybody has neighbours, and which can be cut as is wanted. */
    for (; !found && plan.seed < 60; plan.seed++) {
        camp_open(t, s, plan);
        found = find_set(t, s, least, whole) != 0;
        for (uint32_t i = 0; i < 8 && found; i++)
            found = camp_report(s, i);
        if (!found)
            camp_close(s);
    }
    CHECK(t, found);
    *online = find_set(t, s, least, whole);
}

/* Who is online of a client's neighbours. */
static uint32_t online_neighbours(sotto_test *t, camp *s, uint32_t client, uint32_t online)
{
    uint32_t found = 0;
    uint8_t row[8];

    CHECK_OK(t, sotto_flamingo_row(&s->graph, client, row, &t->err));
    for (uint32_t j = 0; j < 8; j++)
        found |= (row[j] & online >> j & 1) << j;
    return found;
}

static void open_all(camp *s, uint32_t online)
{
    camp_show_all(s, ALL, online);
    camp_ask_set(s, (camp_question){.labels = online,
                                    .shares = online,
                                    .from = online,
                                    .to = 0xff & ~online,
                                    .set = FIRST,
                                    .drawn = true});
}

/* All neighbours of a client are called offline but one, which is the server's. */
static void a_client_is_not_cut_off(sotto_test *t)
{
    uint32_t online, victim = 0, neighbours = 0;
    static camp s;

    sparse(t, &s, 2, 1, true, &online);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t found = (online >> i & 1) ? online_neighbours(t, &s, i, online) : 0;

        if (found && !(found & (found - 1))) {
            victim = i;
            neighbours = found;
        }
    }
    CHECK(t, neighbours != 0);
    open_all(&s, online);
    CHECK(t, !camp_sums(&s, UINT32_C(1) << victim, neighbours));
    CHECK_EQUAL(t, 0, s.voted[0]);
    camp_close(&s);
}

/* Each part has a sum of its own, over fewer than the least. */
static void labels_in_two_parts_are_not_signed(sotto_test *t)
{
    uint32_t online, part, before = 0;
    static camp s;

    sparse(t, &s, 1, 1, false, &online);
    for (part = online & (0u - online); part != before;) {
        before = part;
        for (uint32_t i = 0; i < 8; i++)
            if (before >> i & 1)
                part |= online_neighbours(t, &s, i, online);
    }
    CHECK(t, part != online);
    open_all(&s, online);
    CHECK(t, !camp_sums(&s, part, 0) && !camp_sums(&s, online & ~part, 0));
    CHECK_EQUAL(t, 0, s.voted[0]);
    camp_close(&s);
}

static void edges_are_those_of_the_beacon(sotto_test *t)
{
    static camp s;
    uint32_t online, from = 0, to = 0;
    uint8_t row[8];

    sparse(t, &s, 1, 1, true, &online);
    for (uint32_t i = 0; i < 8; i++) {
        CHECK_OK(t, sotto_flamingo_row(&s.graph, i, row, &t->err));
        for (uint32_t j = 0; j < 8 && from == to; j++)
            if (i != j && !row[j] && (online >> i & 1) && !(online >> j & 1)) {
                from = i;
                to = j;
            }
    }
    CHECK(t, from != to);
    camp_show_all(&s, ALL, online);
    CHECK_EQUAL(t, 1, s.voted[0]);
    camp_question q = {
        .labels = online, .from = UINT32_C(1) << from, .to = UINT32_C(1) << to, .set = FIRST};
    CHECK(t, camp_ask(&s, 0, &q) == SOTTO_REJECTED);
    camp_close(&s);
}

/* Plain ElGamal: the first point of a ciphertext between two online clients, in one that a colluder calls its own. */
static void a_ciphertext_can_not_be_turned_into_another(sotto_test *t)
{
    static camp s;
    uint8_t seed[32], label[SOTTO_TDH2_LABEL];
    const uint8_t *parts[3];

    play(t, &s, SEVEN);
    camp_show_all(&s, ALL, 0x3f); /* client 6 is offline, 5 is the server's */
    sotto_flamingo_body report;
    CHECK_OK(t,
             sotto_flamingo_body_decode(&report, SOTTO_FLAMINGO_REPORT, 7, s.report[0], &t->err));
    uint8_t(*stolen)[SOTTO_TDH2_SEALED] =
        (uint8_t(*)[SOTTO_TDH2_SEALED])(size_t)(sotto_rows_find(&report.b, 1) + 4);
    s.instead = stolen;
    camp_ask_set(&s, (camp_question){.labels = 0x3f, .from = 0x20, .to = 0x40, .set = FIRST});
    CHECK_EQUAL(t, 3, s.answers);
    for (uint32_t i = 0; i < 3; i++)
        parts[i] = s.parts[5][6][i].part;
    sotto_tdh2_label(label, s.id, 0, 1);
    CHECK(t, sotto_tdh2_open_vartime(&s.c.cast.decryptors->tdh2, seed, *stolen, label, parts, 3,
                                     NULL) != SOTTO_OK);
    camp_close(&s);
}

/* Ma et al. 2023, 4.5: client 0 is online in one round and offline in the next; there the server asks for the first one's edges. */
static void edges_are_opened_in_their_round_only(sotto_test *t)
{
    static camp first, second;
    camp_plan next = SEVEN;
    unsigned read = 0;
    uint8_t seed[32];

    play(t, &first, SEVEN);
    next.number = 1;
    play(t, &second, next);
    second.edges_of = &first;
    camp_show_all(&second, ALL, NOT_0);
    camp_ask_set(&second, (camp_question){.labels = NOT_0, .from = NOT_0, .to = 1, .set = FIRST});
    CHECK_EQUAL(t, 3, second.answers);
    for (uint32_t i = 1; i < 7; i++)
        read += camp_knows_edge(&second, i, 0, seed);
    CHECK_EQUAL(t, 0, read);
    camp_close(&first);
    camp_close(&second);
}

/* The other way around: client 0 is offline in the first round and online in the second, where its old shares are asked for. */
static void shares_are_opened_in_their_round_only(sotto_test *t)
{
    static camp first, second;
    camp_plan next = SEVEN;

    play(t, &first, SEVEN);
    next.number = 1;
    play(t, &second, next);
    second.shares_of = &first;
    camp_show_all(&second, ALL, ALL);
    camp_ask_set(&second, (camp_question){.labels = ALL, .shares = ALL, .set = FIRST});
    CHECK_EQUAL(t, 3, second.answers);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(t, !second.has_share[0][i]);
    camp_close(&first);
    camp_close(&second);
}

/* Client 0 is offline, and a decryptor. It could open what it sealed to each of the others, since both agreed on one secret. If
 * that were shown to it as theirs, it would give all shares of its own self mask. */
static void shares_are_opened_for_their_client_and_decryptor_only(sotto_test *t)
{
    static camp s;

    play(t, &s, SEVEN);
    camp_show_all(&s, ALL, NOT_0);
    camp_ask_set(&s, (camp_question){.labels = NOT_0, .from = NOT_0, .to = 1, .set = FIRST});
    s.turned = true;
    CHECK_OK(t, camp_ask(&s, 0, &(camp_question){.labels = NOT_0, .shares = NOT_0, .set = FIRST}));
    CHECK_EQUAL(t, 4, s.answers);
    for (uint32_t u = 1; u < 7; u++)
        if (s.has_share[u][0]) {
            memcpy(s.shares[0][u], s.shares[u][0], SOTTO_SHAMIR_SHARE);
            s.has_share[0][u] = true;
        }
    CHECK(t, !camp_reads(&s, 0));
    camp_close(&s);
}

/* ---- the committee ----------------------------------------------------------------------------------- */

static sotto_status opened(sotto_test *t, camp *s, const sotto_decryptors_record *record)
{
    sotto_decryptors d;

    t->err = (sotto_err){0};
    sotto_status status = sotto_decryptors_open(&d, record, &s->c.cast.registry, s->c.round.beacon,
                                                &t->arena, &t->err);
    sotto_decryptors_close(&d);
    return status;
}

static void the_committee_is_the_beacons(sotto_test *t)
{
    static camp s;
    camp_plan plan = {.clients = 8, .members = 5, .least = 5};
    uint32_t members[5], out = 0;
    uint8_t digest[32];

    camp_open(t, &s, plan);
    sotto_decryptors_record r = s.c.cast.decryptors->record;
    CHECK(t, opened(t, &s, &r) == SOTTO_OK);
    /* Somebody else in the last place, signed by all of the new ones. */
    memcpy(members, r.members, sizeof members);
    while (sotto_decryptors_place(s.c.cast.decryptors, 7 - out) >= 0)
        out++;
    members[4] = 7 - out;
    for (uint32_t i = 0; i + 1 < 5; i++)
        if (members[i] > members[4])
            members[i] = members[4] - 1 - (3 - i);
    r.members = members;
    sotto_decryptors_digest(&r, digest);
    for (uint32_t i = 0; i < 5; i++) {
        r.is_signed[i] = true;
        CHECK_OK(t, sotto_decryptors_sign(digest, r.signatures[i], &s.c.cast.clients[members[i]],
                                          &t->err));
    }
    CHECK(t, opened(t, &s, &r) == SOTTO_REJECTED);
    CHECK_REASON(t, "beacon draws");
    camp_close(&s);
}

/* The server's own key, for everybody or for one client: no quorum signed for it. */
static void the_key_is_the_committees(sotto_test *t)
{
    static camp s;
    uint8_t digest[32];

    camp_open(t, &s, SEVEN);
    sotto_decryptors_record r = s.c.cast.decryptors->record;
    memcpy(r.key, r.verify[0], sizeof r.key); /* a point whose exponent one corrupt member knows */
    CHECK(t, opened(t, &s, &r) == SOTTO_REJECTED);
    CHECK_REASON(t, "signed");
    sotto_decryptors_digest(&r, digest); /* two corrupt members sign */
    for (uint32_t i = 0; i < 7; i++) {
        r.is_signed[i] = i < 2;
        if (i < 2)
            CHECK_OK(t, sotto_decryptors_sign(digest, r.signatures[i],
                                              &s.c.cast.clients[r.members[i]], &t->err));
    }
    CHECK(t, opened(t, &s, &r) == SOTTO_REJECTED);
    camp_close(&s);
}

static void a_round_names_its_committee(sotto_test *t)
{
    static camp s;

    camp_open(t, &s, SEVEN);
    s.parameters.decryptors[3] ^= 1;
    round_case_set_flamingo(t, &s.c.round, &s.parameters);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_flamingo_check_round(&s.c.round, &t->err));
    camp_close(&s);
}

/* ---- clients ----------------------------------------------------------------------------------------- */

static void a_vector_with_few_masks_is_not_sent(sotto_test *t)
{
    static camp s;
    camp_plan plan = {.clients = 8, .members = 7, .least = 6, .neighbours = 4, .edge = 1};

    camp_open(t, &s, plan);
    CHECK(t, !camp_report(&s, 0));
    camp_close(&s);
}

static void a_vector_keeps_to_its_bound(sotto_test *t)
{
    static const struct {
        int64_t entry;
        bool fits;
    } cases[] = {{100000, true}, {-100000, true}, {100001, false}, {-100001, false}};
    static camp s;

    camp_open(t, &s, SEVEN);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        s.c.inputs[0].of.z32[2] = (uint32_t)cases[i].entry;
        CHECK(t, camp_report(&s, 0) == cases[i].fits);
    }
    camp_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(an_honest_end_opens_no_single_vector),
        CASE(a_late_vector_stays_masked),
        CASE(self_masks_of_offline_clients_stay_shut),
        CASE(edges_between_online_clients_stay_shut),
        CASE(two_labels_at_once_open_nothing),
        CASE(votes_can_not_be_made_up),
        CASE(a_vote_counts_once),
        CASE(strangers_do_not_vote),
        CASE(others_votes_open_nothing),
        CASE(a_decryptor_signs_once),
        CASE(what_a_backup_forgets_vows_remember),
        CASE(a_sum_over_a_handful_is_not_opened),
        CASE(reports_can_not_be_made_up),
        CASE(the_cohort_is_the_beacons),
        CASE(a_client_is_not_cut_off),
        CASE(labels_in_two_parts_are_not_signed),
        CASE(edges_are_those_of_the_beacon),
        CASE(a_ciphertext_can_not_be_turned_into_another),
        CASE(edges_are_opened_in_their_round_only),
        CASE(shares_are_opened_in_their_round_only),
        CASE(shares_are_opened_for_their_client_and_decryptor_only),
        CASE(the_committee_is_the_beacons),
        CASE(the_key_is_the_committees),
        CASE(a_round_names_its_committee),
        CASE(a_vector_with_few_masks_is_not_sent),
        CASE(a_vector_keeps_to_its_bound),
    };
    return RUN_TESTS(argc, argv, cases);
}
