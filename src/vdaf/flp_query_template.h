/* vdaf/flp_query_template.h - the aggregators' side of the proof system (draft-irtf-cfrg-vdaf-20, 7.3.4).
 *
 * Each aggregator evaluates its shares of the wire polynomials and of the gadget polynomial at a random
 * point t. Wires are never built. A wire's value at t is a dot product of its inputs with the Lagrange
 * factors of t, and inputs are read where the share has them.
 */

static size_t query_scratch(const sotto_circuit *c)
{
    size_t alone =
        (2 * gadget_count(c) + 2 * c->calls + c->arity + FIELD(power_sums_scratch)(c->calls)) *
        sizeof(fe);

#ifdef QUERY_LANES
    if (sotto_query_lanes_fit(c) && sotto_query_lanes_scratch(c) > alone)
        return sotto_query_lanes_scratch(c);
#endif
    return alone;
}

/* The proof's gadget values, with the missing ones filled in. */
typedef struct gadget_values {
    const uint8_t *known;
    size_t known_len;
    const fe *rest; /* rest[k - known_len] */
} gadget_values;

static fe gadget_value(const gadget_values *y, size_t k)
{
    return k < y->known_len ? get(y->known, k) : y->rest[k - y->known_len];
}

/* Fills in what the proof leaves out: for degree 2, one value, by a dot product. */
static gadget_values complete_gadget(const sotto_circuit *c, const uint8_t *known, fe *room)
{
    const flp_tables *t = c->tables;
    gadget_values y = {known, c->gadget_poly_len, room};

    if (c->degree == 2) {
        room[0] = FIELD(last_value)(known, c->gadget_log, t->gadget_roots);
    } else if (c->gadget_poly_len < gadget_count(c)) {
        for (size_t k = 0; k < c->gadget_poly_len; k++)
            room[k] = get(known, k);
        FIELD(extend)(room, c->gadget_poly_len, c->gadget_log, t->gadget_roots);
        y.rest = room + c->gadget_poly_len;
    }
    return y;
}

/* The gadget polynomial at t. The N Lagrange factors are those in `factors` times one that depends only on
 * k modulo the step N/P. That one is the product of 1 + t^(2^s) w^(-k 2^s) over the levels that `factors`
 * lacks. */
static fe gadget_at_point(const sotto_circuit *c, const gadget_values *y, const fe *factors,
                          fe t_to_p)
{
    const flp_tables *t = c->tables;
    size_t n = gadget_count(c), step = n >> c->wire_log;
    fe total = FIELD(zero)();

    for (size_t residue = 0; residue < step; residue++) {
        fe_acc acc = {0};
        fe tail = FIELD(one_weight)(), power = t_to_p;

        for (size_t k = residue; k < n; k += step)
            FIELD(acc_mul)(&acc, gadget_value(y, k), factors[k]);
        for (unsigned s = c->wire_log; s < c->gadget_log; s++) {
            fe root = t->gadget_roots[(n - (residue << s)) & (n - 1)];
            tail = FIELD(mul)(tail, FIELD(add)(FIELD(one_weight)(), FIELD(mul)(power, root)));
            power = FIELD(mul)(power, power);
        }
        total = FIELD(add)(total, FIELD(mul)(FIELD(acc_reduce)(&acc), tail));
    }
    return FIELD(mul)(total, t->gadget_inv);
}

/* ---- chunks ------------------------------------------------------------------------------------- */

/* Whether the linear check is of the plain sum of all elements. Then that sum comes from the pass over them that wires are made in. */
static bool sums_everything(const sotto_circuit *c)
{
    return c->linear == SOTTO_LINEAR_ONE && c->bits == 1;
}

static void query_chunk_wires(const sotto_circuit *c, uint8_t *wires, fe *sum, const uint8_t *meas,
                              const uint8_t *seeds, const uint8_t *joint_rand, const fe *factors,
                              fe *scratch)
{
    const flp_tables *t = c->tables;
    unsigned step_log = c->gadget_log - c->wire_log;
    fe *f = scratch, *r = f + c->calls, *sums = r + c->calls, *more = sums + c->arity;
    fe seed_factor = FIELD(mul)(factors[0], t->wire_inv);
    fe_sum f_sum = {0};

    for (size_t i = 0; i < c->calls; i++) {
        f[i] = FIELD(mul)(factors[(i + 1) << step_log], t->wire_inv);
        r[i] = FIELD(to_weight)(get(joint_rand, i));
        FIELD(sum_add)(&f_sum, f[i]);
    }
    /* Odd inputs are the element less 1/shares, in every chunk and also where the last one is padded. */
    fe offset = FIELD(mul)(t->shares_inv, FIELD(sum_reduce)(&f_sum));

    FIELD(power_sums)
    (sums, sums_everything(c) ? sum : NULL, meas, c->meas_len, c->chunk_length, f, r, more);
    for (size_t j = 0; j < c->arity; j += 2) {
        fe even = FIELD(mul)(get(seeds, j), seed_factor);
        fe odd = FIELD(mul)(get(seeds, j + 1), seed_factor);

        put(wires, j, FIELD(add)(even, sums[j]));
        put(wires, j + 1, FIELD(add)(odd, FIELD(sub)(sums[j + 1], offset)));
    }
}

/* The sum of the integers that `count` groups of `bits` elements spell. */
static fe sum_of_entries(const uint8_t *meas, size_t count, unsigned bits, uint64_t max)
{
    fe_acc total = {0};

    for (unsigned b = 0; b < bits; b++) {
        fe_sum sum = {0};

        for (size_t i = 0; i < count; i++)
            FIELD(sum_add)(&sum, get(meas, i * bits + b));
        FIELD(acc_mul)
        (&total, FIELD(sum_reduce)(&sum),
         FIELD(to_weight)(FIELD(from)(sotto_circuit_weight(b, bits, max))));
    }
    return FIELD(acc_reduce)(&total);
}

/* sum: of all elements, where the check is of that */
static fe linear_check(const sotto_circuit *c, const uint8_t *meas, fe sum)
{
    const flp_tables *t = c->tables;

    if (!sums_everything(c))
        sum = sum_of_entries(meas, (size_t)c->entries, c->bits, c->max);

    if (c->linear == SOTTO_LINEAR_ONE)
        return FIELD(sub)(sum, t->shares_inv);
    const uint8_t *claim = meas + sotto_circuit_claim_at(c) * FE_SIZE;
    return FIELD(sub)(sum, unspell(claim, c->claim_bits, c->claim_max));
}

static fe chunk_output(const sotto_circuit *c, const gadget_values *y, const uint8_t *meas, fe sum,
                       const uint8_t *query_rand)
{
    size_t step = gadget_count(c) >> c->wire_log;
    fe_sum outputs = {0};

    for (size_t i = 1; i <= c->calls; i++)
        FIELD(sum_add)(&outputs, gadget_value(y, i * step));
    fe range_check = FIELD(sum_reduce)(&outputs);
    if (c->linear == SOTTO_LINEAR_NONE)
        return range_check;
    return FIELD(add)(plain_product(range_check, get(query_rand, 0)),
                      plain_product(linear_check(c, meas, sum), get(query_rand, 1)));
}

/* ---- one call an element ------------------------------------------------------------------------- */

static void query_simple_wires(const sotto_circuit *c, uint8_t *wires, const uint8_t *meas,
                               const uint8_t *seeds, const fe *factors)
{
    const flp_tables *t = c->tables;
    unsigned step_log = c->gadget_log - c->wire_log;

    for (size_t j = 0; j < c->arity; j++) {
        fe_acc acc = {0};

        FIELD(acc_mul)(&acc, get(seeds, j), factors[0]);
        for (size_t i = 0; i < c->calls; i++)
            FIELD(acc_mul)(&acc, get(meas, i), factors[(i + 1) << step_log]);
        put(wires, j, FIELD(mul)(FIELD(acc_reduce)(&acc), t->wire_inv));
    }
}

static fe simple_output(const sotto_circuit *c, const gadget_values *y, const uint8_t *meas,
                        const uint8_t *query_rand)
{
    size_t step = gadget_count(c) >> c->wire_log;
    fe_acc acc = {0};

    if (c->shape == SOTTO_SHAPE_PRODUCT)
        return FIELD(sub)(gadget_value(y, step), get(meas, 0));
    if (c->eval_output_len == 1)
        return gadget_value(y, step);
    for (size_t i = 0; i < c->calls; i++)
        FIELD(acc_mul)
    (&acc, gadget_value(y, (i + 1) * step), FIELD(to_weight)(get(query_rand, i)));
    return FIELD(acc_reduce)(&acc);
}

static bool query(const sotto_circuit *c, const sotto_flp_query *q, void *scratch)
{
    const flp_tables *tables = c->tables;
    fe *factors = scratch, *room = factors + gadget_count(c), *more = room + gadget_count(c);
    uint8_t *wires = q->verifier + FE_SIZE;
    fe t = FIELD(to_weight)(get(q->query_rand, c->query_rand_len - 1));

    fe t_to_p = FIELD(factors)(factors, c->gadget_log, c->gadget_log - c->wire_log, t,
                               tables->gadget_roots);
    gadget_values y = complete_gadget(c, q->proof + c->arity * FE_SIZE, room);

    if (c->shape == SOTTO_SHAPE_CHUNKS) {
        fe sum = FIELD(zero)();

        query_chunk_wires(c, wires, &sum, q->meas, q->proof, q->joint_rand, factors, more);
        put(q->verifier, 0, chunk_output(c, &y, q->meas, sum, q->query_rand));
    } else {
        query_simple_wires(c, wires, q->meas, q->proof, factors);
        put(q->verifier, 0, simple_output(c, &y, q->meas, q->query_rand));
    }
    put(wires, c->arity, gadget_at_point(c, &y, factors, t_to_p));
    return !FIELD(equal)(t_to_p, FIELD(one_weight)());
}

static void queries(const sotto_circuit *c, sotto_flp_query *all, size_t count, void *scratch)
{
#ifdef QUERY_LANES
    /* Lanes cost the same however few have a report. */
    if (count >= SOTTO_QUERY_LANES / 2 && sotto_query_lanes_fit(c)) {
        const flp_tables *t = c->tables;
        sotto_query_tables tables = {t->gadget_roots, t->wire_inv, t->gadget_inv, t->shares_inv};

        sotto_query_lanes_ifma(c, &tables, all, count, scratch);
        return;
    }
#endif
    for (size_t i = 0; i < count; i++)
        all[i].usable = query(c, &all[i], scratch);
}

/* Where each is queried alone, few are waited for, so that shares are still in the nearest cache. */
static size_t at_once(const sotto_circuit *c)
{
#ifdef QUERY_LANES
    if (sotto_query_lanes_fit(c))
        return SOTTO_FLP_QUERIES;
#endif
    (void)c;
    return SOTTO_FLP_QUERIES / 2;
}

/* ---- decision ------------------------------------------------------------------------------------ */

static fe sum_of_shares(const sotto_circuit *c, const uint8_t *const *verifiers, size_t offset,
                        size_t index)
{
    fe_sum sum = {0};

    for (unsigned s = 0; s < c->shares; s++)
        FIELD(sum_add)(&sum, get(verifiers[s] + offset, index));
    return FIELD(sum_reduce)(&sum);
}

static bool decide(const sotto_circuit *c, const uint8_t *const *verifiers, size_t offset)
{
    fe output = sum_of_shares(c, verifiers, offset, 0);
    fe claimed = sum_of_shares(c, verifiers, offset, c->arity + 1);
    fe gadget;

    if (c->shape == SOTTO_SHAPE_EACH) {
        gadget = apply_polynomial(c, sum_of_shares(c, verifiers, offset, 1));
    } else {
        fe_acc acc = {0};
        for (size_t j = 0; j < c->arity; j += 2)
            FIELD(acc_mul)
        (&acc, sum_of_shares(c, verifiers, offset, 1 + j),
         sum_of_shares(c, verifiers, offset, 2 + j));
        /* Both factors are plain, so the sum lacks a factor twice over. */
        gadget = FIELD(to_weight)(FIELD(acc_reduce)(&acc));
    }
    return (FIELD(equal)(output, FIELD(zero)()) & FIELD(equal)(gadget, claimed)) != 0;
}

/* ---- the tables ------------------------------------------------------------------------------------ */

#define FLP_FUNCTIONS                                                                              \
    {                                                                                              \
        .tables_size = tables_size, .tables_init = tables_init, .prove_scratch = prove_scratch,    \
        .canonical = canonical, .sieve_vartime = sieve_vartime, .encode = encode,                  \
        .subtract = subtract, .prove = prove,                                                      \
    }

#define FLP_CHECKS                                                                                 \
    {                                                                                              \
        .query_scratch = query_scratch, .at_once = at_once, .queries = queries, .decide = decide,  \
        .truncate = truncate, .accumulate = accumulate, .merge = merge,                            \
    }
