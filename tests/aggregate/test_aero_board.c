/* What counts on the board, record by record, and the trees. */
#include "hall.h"

#include <string.h>

static hall_plan six(void)
{
    hall_plan p = HALL_SMALL;

    p.clients = 6;
    return p;
}

/* ---- trees ------------------------------------------------------------------------------------------------- */

static void fill_leaves(sotto_aero_sum *leaves, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        memset(&leaves[i], 0, sizeof leaves[i]);
        leaves[i].hash[0] = (uint8_t)i;
        for (unsigned k = 0; k < SOTTO_AERO_VALUES; k++)
            leaves[i].v[k] = sotto_f64_from(1000 * i + k);
    }
}

static void every_node_of_every_tree_has_a_path(sotto_test *t)
{
    sotto_aero_sum leaves[20];

    for (uint32_t count = 1; count <= 20; count++)
        for (unsigned adds = 0; adds < 2; adds++) {
            sotto_aero_sum_tree tree;
            sotto_aero_sum_path path;

            fill_leaves(leaves, count);
            CHECK_OK(t, sotto_aero_sum_build(&tree, leaves, count, adds, &t->arena, &t->err));
            for (uint32_t level = 0; level < tree.levels; level++)
                for (uint32_t i = 0; i < tree.count[level]; i++) {
                    const sotto_aero_sum *root = sotto_aero_sum_root(&tree);
                    sotto_aero_sum node = tree.level[level][i];

                    sotto_aero_sum_path_of(&path, &tree, level, i);
                    CHECK(t, sotto_aero_sum_holds(&path, &node, i, tree.count[level], root, adds));
                    node.hash[31] ^= 1;
                    CHECK(t, !sotto_aero_sum_holds(&path, &node, i, tree.count[level], root, adds));
                    node.hash[31] ^= 1;
                    node.v[0] = sotto_f64_add(node.v[0], sotto_f64_one());
                    CHECK(t, sotto_aero_sum_holds(&path, &node, i, tree.count[level], root, adds) !=
                                 (adds == 1));
                }
        }
}

/* As noise members' leaves are: proved together, and each of them is the one in its place. */
static void first_leaves_are_in_every_tree(sotto_test *t)
{
    sotto_aero_sum leaves[21], first[22];

    for (uint32_t count = 1; count <= 20; count++)
        for (uint32_t some = 1; some <= count; some++) {
            sotto_aero_sum_tree tree;
            sotto_aero_sum_path path;

            fill_leaves(leaves, count);
            CHECK_OK(t, sotto_aero_sum_build(&tree, leaves, count, false, &t->arena, &t->err));
            const sotto_aero_sum *root = sotto_aero_sum_root(&tree);
            sotto_aero_sum_first_of(&path, &tree, some);
            for (uint32_t wrong = 0; wrong <= some; wrong++) {
                memcpy(first, leaves, some * sizeof *first);
                if (wrong < some)
                    first[wrong].hash[5] ^= 1;
                CHECK(t, sotto_aero_sum_first_holds(&path, first, some, count, root) ==
                             (wrong == some));
            }
            path.count++;
            memcpy(first, leaves, some * sizeof *first);
            CHECK(t, !sotto_aero_sum_first_holds(&path, first, some, count, root));
            CHECK(t, !sotto_aero_sum_first_holds(&path, first, count + 1, count, root));
        }
}

/* Whoever adds wrongly at a node has no path for any leaf below it, whatever hashes it makes up. */
static void a_wrong_sum_inside_leaves_no_path_below_it(sotto_test *t)
{
    sotto_aero_sum leaves[8], root;
    sotto_aero_sum_tree tree;
    sotto_aero_sum_path path;
    unsigned held = 0;

    fill_leaves(leaves, 8);
    CHECK_OK(t, sotto_aero_sum_build(&tree, leaves, 8, true, &t->arena, &t->err));
    /* The left half counts one more than its leaves do; all above is made to fit. */
    sotto_aero_sum wrong[2] = {tree.level[2][0], tree.level[2][1]};
    sotto_aero_sum_tree top;
    wrong[0].v[0] = sotto_f64_add(wrong[0].v[0], sotto_f64_one());
    CHECK_OK(t, sotto_aero_sum_build(&top, wrong, 2, true, &t->arena, &t->err));
    root = *sotto_aero_sum_root(&top);
    for (uint32_t i = 0; i < 8; i++) {
        sotto_aero_sum_path_of(&path, &tree, 0, i);
        path.at[2] = wrong[i < 4 ? 1 : 0];
        held += sotto_aero_sum_holds(&path, &leaves[i], i, 8, &root, true);
    }
    CHECK_EQUAL(t, 4, held); /* those of the other half */
}

static void a_value_is_additive_in_both_primes(sotto_test *t)
{
    static sotto_aero_cipher a, b, sum;
    sotto_sim_random random;
    sotto_f64 points[SOTTO_AERO_POINTS], of_a[SOTTO_AERO_VALUES], of_b[SOTTO_AERO_VALUES],
        of_sum[SOTTO_AERO_VALUES];
    uint8_t seed[32] = {7};

    sotto_sim_random_init(&random, 1);
    for (size_t k = 0; k < SOTTO_AERO_N; k++) {
        a.c1.first[k] = sotto_f64_from(sotto_sim_random_below(&random, SOTTO_F64_P));
        b.c2.first[k] = sotto_f64_from(sotto_sim_random_below(&random, SOTTO_F64_P));
        a.c2.second[k] = b.c2.second[k] = 8380416; /* of which two are more than the prime */
    }
    sum = a;
    sotto_aero_total_add(&sum, &b);
    sotto_aero_points_of(points, seed);
    sotto_aero_value_of(of_a, &a, 1, points);
    sotto_aero_value_of(of_b, &b, 1, points);
    sotto_aero_value_of(of_sum, &sum, 1, points);
    for (unsigned i = 0; i < SOTTO_AERO_COUNT; i++)
        CHECK(t, sotto_f64_add(of_a[i], of_b[i]).v == of_sum[i].v);
    CHECK(t, points[0].v != points[1].v);
}

/* Why the points come last: with them in hand, a sum that is wrong almost everywhere has the right value. */
static void who_knows_the_points_can_make_a_wrong_sum_fit(sotto_test *t)
{
    static sotto_aero_cipher right, wrong;
    sotto_f64 points[SOTTO_AERO_POINTS], a[SOTTO_AERO_VALUES], b[SOTTO_AERO_VALUES];
    uint8_t seed[32] = {9};

    sotto_aero_points_of(points, seed);
    wrong = right;
    /* (x - p0)(x - p1) is 0 at both. */
    wrong.c1.first[0] = sotto_f64_mul(points[0], points[1]);
    wrong.c1.first[1] = sotto_f64_neg(sotto_f64_add(points[0], points[1]));
    wrong.c1.first[2] = sotto_f64_one();
    sotto_aero_value_of(a, &right, 1, points);
    sotto_aero_value_of(b, &wrong, 1, points);
    CHECK(t, memcmp(a, b, sizeof a) == 0);
    seed[0]++;
    sotto_aero_points_of(points, seed);
    sotto_aero_value_of(a, &right, 1, points);
    sotto_aero_value_of(b, &wrong, 1, points);
    CHECK(t, memcmp(a, b, sizeof a) != 0);
}

/* ---- records ------------------------------------------------------------------------------------------------ */

typedef struct desk {
    sotto_test *t;
    hall h;
    sotto_aero_view *view;
    sotto_buf b[5];
    uint8_t nonce[32], value[32];
} desk;

/* Signs a record and reads it. True: it counts. */
static bool read_from(desk *d, uint32_t from, unsigned kind, sotto_bytes body)
{
    sotto_test *t = d->t;
    sotto_round *r = &d->h.round;
    sotto_message m = {.epoch = r->epoch,
                       .round = r->number,
                       .kind = (uint16_t)kind,
                       .from = from,
                       .to = SOTTO_TO_BOARD,
                       .body = body},
                  known;
    uint8_t signature[SOTTO_SIGNATURE];

    memcpy(m.session, r->session, 32);
    CHECK_OK(t, sotto_message_sign(&m, signature,
                                   from == SOTTO_TO_SERVER ? &d->h.cast.server
                                                           : &d->h.cast.clients[from],
                                   &t->err));
    size_t size = sotto_message_size(&m);
    sotto_buf wire = sotto_buf_over(sotto_arena_take(&t->arena, size), size);
    CHECK_OK(t, sotto_message_encode(&wire, &m, &t->err));
    CHECK_OK(t, sotto_aero_view_read(d->view, &known, d->view->next, sotto_buf_bytes(&wire), false,
                                     &t->arena, &t->err));
    return known.kind != 0;
}

static bool server_says(desk *d, unsigned kind, const void *body, size_t len)
{
    return read_from(d, SOTTO_TO_SERVER, kind, sotto_bytes_of(body, len));
}

static uint32_t member(const desk *d, uint32_t place)
{
    return d->h.derived->committee[place];
}

static void desk_open(sotto_test *t, desk *d, hall_plan plan)
{
    memset(d, 0, sizeof *d);
    d->t = t;
    hall_open(t, &d->h, plan);
    d->view = sotto_arena_take(&t->arena, sizeof *d->view);
    CHECK(t, d->view != NULL);
    CHECK_OK(t, sotto_aero_view_init(d->view, d->h.derived, &t->arena, &t->err));
}

static void seal(desk *d, uint32_t place)
{
    static sotto_aero_poly poly;
    size_t size = sotto_aero_poly_size(&d->h.derived->aero);
    uint8_t body[SOTTO_AERO_SEAL_SIZE] = {0};

    memset(&poly, 0, sizeof poly);
    poly.first[0] = sotto_f64_from(place + 1);
    d->b[place] = sotto_buf_over(sotto_arena_take(&d->t->arena, size), size);
    CHECK_OK(d->t, sotto_aero_poly_encode(&d->h.derived->aero, &d->b[place], &poly, &d->t->err));
    sotto_aero_seal_key(body, d->h.derived, member(d, place), d->nonce,
                        sotto_buf_bytes(&d->b[place]));
    sotto_aero_seal_value(body + 32, d->h.derived, member(d, place), d->nonce, d->value);
    CHECK(d->t, read_from(d, member(d, place), SOTTO_AERO_SEAL, sotto_bytes_of(body, sizeof body)));
}

static bool key(desk *d, uint32_t place, uint8_t changed)
{
    size_t size = sotto_aero_key_size(d->h.derived);
    uint8_t *body = sotto_arena_take(&d->t->arena, size);

    CHECK(d->t, body != NULL);
    memcpy(body, d->nonce, 32);
    memcpy(body + 32, d->b[place].data, d->b[place].len);
    body[32] ^= changed;
    return read_from(d, member(d, place), SOTTO_AERO_KEY, sotto_bytes_of(body, size));
}

/* The public key, as it is or changed; and how many dealt it, or so many more. */
static bool says_keyed(desk *d, uint8_t changed, uint8_t more)
{
    static uint8_t body[60000];
    sotto_buf out = sotto_buf_over(body, sizeof body);

    CHECK_OK(d->t, sotto_aero_keyed_encode(d->view, &out, &d->t->err));
    CHECK_EQUAL(d->t, sotto_aero_keyed_size(d->view->plan), out.len);
    body[0] = (uint8_t)(body[0] + more);
    body[1] ^= changed;
    return server_says(d, SOTTO_AERO_KEYED, body, out.len);
}

/* A key of as many dealers, up to the end of the set-up. */
static void set_up(desk *d, uint32_t dealers)
{
    for (uint32_t i = 0; i < 5; i++)
        seal(d, i);
    CHECK(d->t, server_says(d, SOTTO_AERO_SEALED, "", 0));
    for (uint32_t i = 0; i < dealers; i++)
        CHECK(d->t, key(d, i, 0));
    CHECK(d->t, says_keyed(d, 0, 0));
}

static void certify(desk *d, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK(d->t, read_from(d, member(d, i), SOTTO_AERO_CERTIFY,
                              sotto_bytes_of(d->view->certificate, SOTTO_AERO_CERTIFICATE)));
}

/* Members read all parts of their key: a server that says another sum, or another number of parts, gets no certificate. */
static void a_public_key_is_the_sum_of_its_parts(sotto_test *t)
{
    static desk d;

    desk_open(t, &d, six());
    for (uint32_t i = 0; i < 5; i++)
        seal(&d, i);
    CHECK(t, server_says(&d, SOTTO_AERO_SEALED, "", 0));
    for (uint32_t i = 0; i < 3; i++)
        CHECK(t, key(&d, i, 0));
    CHECK(t, !says_keyed(&d, 1, 0));
    CHECK(t, !says_keyed(&d, 0, 1));
    CHECK(t, !d.view->is_keyed);
    CHECK(t, says_keyed(&d, 0, 0));
    CHECK(t, d.view->is_keyed);
    CHECK_EQUAL(t, 3, d.view->dealers);
    hall_close(&d.h);
}

/* Who is shown no parts takes the key that is posted, and goes on once as many members as the threshold certify it. */
static void others_take_the_key_that_members_certify(sotto_test *t)
{
    static desk d;

    desk_open(t, &d, six());
    set_up(&d, 3);
    sotto_aero_poly wanted = d.view->b[0];
    uint8_t certificate[SOTTO_AERO_CERTIFICATE];
    memcpy(certificate, d.view->certificate, sizeof certificate);
    hall_close(&d.h);
    desk_open(t, &d, six());
    for (uint32_t i = 0; i < 5; i++)
        seal(&d, i);
    CHECK(t, server_says(&d, SOTTO_AERO_SEALED, "", 0));
    d.view->unread[0] = true;
    d.view->b[0] = wanted;
    d.view->dealt[0] = 3;
    CHECK(t, says_keyed(&d, 0, 0));
    CHECK_EQUAL(t, 3, d.view->dealers);
    CHECK_BYTES(t, certificate, d.view->certificate, sizeof certificate);
    CHECK(t, !sotto_aero_is_certified(d.view));
    certify(&d, 3);
    CHECK(t, sotto_aero_is_certified(d.view));
    hall_close(&d.h);
}

/* A dealer that waits for the others' parts and takes them out again would have the key to itself. */
static void a_part_of_the_key_is_fixed_before_any_is_shown(sotto_test *t)
{
    static desk d;

    desk_open(t, &d, six());
    for (uint32_t i = 0; i < 4; i++)
        seal(&d, i);
    CHECK(t, server_says(&d, SOTTO_AERO_SEALED, "", 0));
    CHECK(t, key(&d, 0, 0));
    CHECK(t, !key(&d, 1, 1));
    CHECK(t, !key(&d, 0, 0)); /* once */
    CHECK_EQUAL(t, 1, d.view->dealers);
    hall_close(&d.h);
}

static void a_key_has_enough_dealers(sotto_test *t)
{
    static desk d;

    desk_open(t, &d, six());
    set_up(&d, 2);
    certify(&d, 5);
    CHECK(t, !sotto_aero_is_certified(d.view));
    hall_close(&d.h);
    desk_open(t, &d, six());
    set_up(&d, 3);
    certify(&d, 5);
    CHECK(t, sotto_aero_is_certified(d.view));
    hall_close(&d.h);
}

/* One corrupt member less than can lie; and members whose certificate says less than the board of what was spent. */
static void a_certificate_needs_more_members_than_may_lie(sotto_test *t)
{
    static desk d;
    uint8_t stale[SOTTO_AERO_CERTIFICATE];

    desk_open(t, &d, six());
    set_up(&d, 5);
    certify(&d, 2);
    memcpy(stale, d.view->certificate, sizeof stale);
    stale[32] ^= 1; /* spent before */
    for (uint32_t i = 2; i < 5; i++)
        CHECK(t, read_from(&d, member(&d, i), SOTTO_AERO_CERTIFY,
                           sotto_bytes_of(stale, sizeof stale)));
    CHECK(t, !sotto_aero_is_certified(d.view));
    hall_close(&d.h);
}

static void a_round_beyond_the_budget_is_not_certified(sotto_test *t)
{
    static desk d;
    hall_plan p = six();

    p.variance = 400;
    p.norm2 = 100;
    p.epsilon = 8 * 1000000;
    desk_open(t, &d, p);
    set_up(&d, 5);
    certify(&d, 5);
    CHECK(t, sotto_aero_is_certified(d.view));
    d.h.account.rho = 10; /* what the board says of earlier rounds */
    t->err = (sotto_err){0};
    CHECK_STATUS(t, SOTTO_DENIED, sotto_aero_budget(d.h.derived, &t->err));
    CHECK(t, !sotto_aero_is_certified(d.view));
    hall_close(&d.h);
}

/* The price is (2 S)^2 / (2 sigma^2) of the noise that can be counted on, and a little for what openings tell. */
static void the_price_counts_on_the_noise_that_is_there(sotto_test *t)
{
    hall_plan p = six();
    hall h;

    p.variance = 400;
    p.norm2 = 100;
    hall_open(t, &h, p);
    double noise = 400.0 * (4 - 1 - 1);
    CHECK(t, h.derived->rho >= 4 * 100 / (2 * noise));
    CHECK(t, h.derived->rho <= 4 * 100 / (2 * noise) * 1.01 + h.derived->ledger.rho);
    hall_close(&h);
}

static void commit(desk *d, uint32_t leaves, uint8_t root)
{
    uint8_t body[36] = {0};

    body[3] = (uint8_t)leaves;
    body[4] = root;
    CHECK(d->t, server_says(d, SOTTO_AERO_COMMITTED, body, sizeof body));
}

static void add(desk *d, uint8_t root)
{
    uint8_t body[4 + 64] = {0};

    body[3] = 9;
    body[4] = root;
    CHECK(d->t, server_says(d, SOTTO_AERO_ADDED, body, sizeof body));
}

static bool open_value(desk *d, uint32_t place, uint8_t changed)
{
    uint8_t body[64];

    memcpy(body, d->nonce, 32);
    memcpy(body + 32, d->value, 32);
    body[32] ^= changed;
    return read_from(d, member(d, place), SOTTO_AERO_VALUE, sotto_bytes_of(body, sizeof body));
}

static bool sum(desk *d, uint64_t before, uint8_t root)
{
    uint8_t body[8 + 32 + 8 * SOTTO_AERO_VALUES] = {0};

    body[7] = (uint8_t)before;
    body[8] = root;
    return server_says(d, SOTTO_AERO_SUMMED, body, sizeof body);
}

static void more_leaves_than_contributors_are_refused(sotto_test *t)
{
    static desk d;

    desk_open(t, &d, six());
    set_up(&d, 5);
    commit(&d, 4 + 6, 1);
    CHECK(t, !d.view->is_refuted);
    hall_close(&d.h);
    desk_open(t, &d, six());
    set_up(&d, 5);
    commit(&d, 4 + 7, 1);
    CHECK(t, d.view->is_refuted);
    CHECK(t, strcmp(d.view->reason, "more leaves than there can be contributors") == 0);
    hall_close(&d.h);
}

static void a_round_has_one_tree_of_promises(sotto_test *t)
{
    static desk d;

    desk_open(t, &d, six());
    set_up(&d, 5);
    commit(&d, 9, 1);
    CHECK(t, !d.view->is_refuted);
    commit(&d, 9, 2);
    CHECK(t, d.view->is_refuted);
    hall_close(&d.h);
}

static void a_round_has_one_sum(sotto_test *t)
{
    static desk d;

    desk_open(t, &d, six());
    set_up(&d, 5);
    commit(&d, 9, 1);
    add(&d, 1);
    CHECK(t, !d.view->is_refuted);
    add(&d, 2);
    CHECK(t, d.view->is_refuted);
    CHECK(t, d.view->committed_at < d.view->added_at);
    hall_close(&d.h);
}

/* A member that chooses its value after it has seen the others' chooses the points. */
static void a_value_is_fixed_before_the_round(sotto_test *t)
{
    static desk d;

    desk_open(t, &d, six());
    set_up(&d, 5);
    commit(&d, 9, 1);
    add(&d, 1);
    CHECK(t, !open_value(&d, 0, 1));
    CHECK(t, open_value(&d, 1, 0));
    CHECK_EQUAL(t, 1, sotto_aero_opened(d.view, d.view->next));
    hall_close(&d.h);
}

static void points_come_from_more_members_than_may_lie(sotto_test *t)
{
    static desk d;

    desk_open(t, &d, six());
    set_up(&d, 5);
    commit(&d, 9, 1);
    add(&d, 1);
    CHECK(t, open_value(&d, 0, 0) && open_value(&d, 1, 0));
    CHECK(t, !sum(&d, d.view->next, 1));
    CHECK(t, open_value(&d, 2, 0));
    CHECK(t, sum(&d, d.view->next, 1));
    CHECK(t, d.view->added_at < d.view->summed_at);
    hall_close(&d.h);
}

/* Sums are posted: complaints are heard. */
static void desk_summed(sotto_test *t, desk *d)
{
    desk_open(t, d, six());
    set_up(d, 5);
    commit(d, 9, 1);
    add(d, 1);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(t, open_value(d, i, 0));
    CHECK(t, sum(d, d->view->next, 1));
}

static bool got_no_answer(desk *d, uint32_t from, uint8_t position)
{
    const uint8_t body[6] = {SOTTO_AERO_NO_ANSWER, 0, 0, 0, 0, position};

    return read_from(d, from, SOTTO_AERO_COMPLAINT, sotto_bytes_of(body, sizeof body));
}

/* A server that answers is not refuted by one device that complains of everything, nor by many. */
static void one_device_ends_no_round_by_complaints(sotto_test *t)
{
    static desk d;
    unsigned heard = 0;

    desk_summed(t, &d);
    d.view->posted.leaves = 250;
    for (uint8_t i = 0; i < 65; i++)
        heard += got_no_answer(&d, 0, i);
    CHECK_EQUAL(t, 40, heard); /* as many as it asks for */
    CHECK(t, !d.view->is_refuted);
    for (uint32_t i = 0; i < d.view->challenge_count; i++)
        d.view->challenges[i].is_answered = true;
    for (uint8_t i = 65; i < 100; i++) /* it asked for no more, whatever is answered */
        CHECK(t, !got_no_answer(&d, 0, i));
    for (uint8_t i = 100; i < 140; i++)
        CHECK(t, got_no_answer(&d, 1, i));
    CHECK(t, !got_no_answer(&d, 2, 139)); /* it waits for an answer anyway */
    CHECK(t, !d.view->is_refuted);
    for (uint8_t i = 140; i < 165; i++)
        CHECK(t, got_no_answer(&d, 2, i));
    CHECK(t, d.view->is_refuted); /* 65 leaves wait */
    hall_close(&d.h);
}

/* What the server is said to have shown, by its own signature: no sample at all. */
static bool accuse(desk *d, uint32_t from, const sotto_signer *by)
{
    const sotto_round *r = &d->h.round;
    sotto_message shown = {.epoch = r->epoch,
                           .round = r->number,
                           .kind = SOTTO_AERO_SAMPLE,
                           .from = SOTTO_TO_SERVER,
                           .to = from,
                           .body = {(const uint8_t *)"?", 1}};
    uint8_t signature[SOTTO_SIGNATURE], body[512] = {SOTTO_AERO_FALSE_LEAF};
    sotto_buf out = sotto_buf_over(body, sizeof body);

    out.len = 1;
    memcpy(shown.session, r->session, 32);
    CHECK_OK(d->t, sotto_message_sign(&shown, signature, by, &d->t->err));
    CHECK_OK(d->t, sotto_message_encode(&out, &shown, &d->t->err));
    return read_from(d, from, SOTTO_AERO_COMPLAINT, sotto_buf_bytes(&out));
}

/* Every complaint about a leaf costs everybody a check of its proof. */
static void who_accuses_wrongly_is_not_heard_again(sotto_test *t)
{
    static desk d;

    desk_summed(t, &d);
    CHECK(t, !accuse(&d, 0, &d.h.cast.clients[0]));
    CHECK(t, !accuse(&d, 0, &d.h.cast.server));
    CHECK(t, !d.view->is_refuted);
    CHECK(t, accuse(&d, 1, &d.h.cast.server));
    CHECK(t, d.view->is_refuted);
    hall_close(&d.h);
}

/* Anybody can post anything: what does not count does not stop the reading. */
static void what_is_no_record_is_passed_over(sotto_test *t)
{
    static desk d;
    sotto_message known;

    desk_open(t, &d, six());
    CHECK_OK(t, sotto_aero_view_read(d.view, &known, 0, sotto_bytes_of("junk", 4), false, &t->arena,
                                     &t->err));
    CHECK_EQUAL(t, 0, known.kind);
    CHECK_STATUS(t, SOTTO_AGAIN,
                 sotto_aero_view_read(d.view, &known, 2, sotto_bytes_of("junk", 4), false,
                                      &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_STALE,
                 sotto_aero_view_read(d.view, &known, 0, sotto_bytes_of("junk", 4), false,
                                      &t->arena, &t->err));
    for (uint32_t i = 0; i < 6; i++) /* nobody but members commits to a part of the key */
        if (sotto_aero_committee_place(d.h.derived, i) < 0)
            CHECK(t, !read_from(&d, i, SOTTO_AERO_SEAL, sotto_bytes_of(d.nonce, 32)));
    seal(&d, 0);
    hall_close(&d.h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_node_of_every_tree_has_a_path),
        CASE(first_leaves_are_in_every_tree),
        CASE(a_wrong_sum_inside_leaves_no_path_below_it),
        CASE(a_value_is_additive_in_both_primes),
        CASE(who_knows_the_points_can_make_a_wrong_sum_fit),
        CASE(a_public_key_is_the_sum_of_its_parts),
        CASE(others_take_the_key_that_members_certify),
        CASE(a_part_of_the_key_is_fixed_before_any_is_shown),
        CASE(a_key_has_enough_dealers),
        CASE(a_certificate_needs_more_members_than_may_lie),
        CASE(a_round_beyond_the_budget_is_not_certified),
        CASE(the_price_counts_on_the_noise_that_is_there),
        CASE(more_leaves_than_contributors_are_refused),
        CASE(a_round_has_one_tree_of_promises),
        CASE(a_round_has_one_sum),
        CASE(a_value_is_fixed_before_the_round),
        CASE(points_come_from_more_members_than_may_lie),
        CASE(one_device_ends_no_round_by_complaints),
        CASE(who_accuses_wrongly_is_not_heard_again),
        CASE(what_is_no_record_is_passed_over),
    };
    return RUN_TESTS(argc, argv, cases);
}
